import { SchemaError } from '../core/failures.ts';
import type { Schema } from '../core/schema.ts';
import type { Incoming } from './received.ts';

export type { Schema } from '../core/schema.ts';

/** Checks the body and keeps what the schema made of it. Throws `SchemaError`, which names the path of each issue: poison. */
export async function validate<T>(schema: Schema<T>, message: Incoming<T>): Promise<void> {
  const result = await schema['~standard'].validate(message.json());
  if (result.issues !== undefined) throw new SchemaError(result.issues);
  message.replace(result.value);
}
