import { SchemaError } from '../core/failures.ts';
import type { ReceivedMessage } from './received.ts';

/** The part of Standard Schema v1 that is used here: zod, valibot, arktype and others fit as they are. */
export interface Schema<T = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<T> | Promise<SchemaResult<T>>;
  };
}

export type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Checks the body and keeps what the schema made of it. Throws `SchemaError`, which names the path of each issue: poison. */
export async function validate<T>(schema: Schema<T>, message: ReceivedMessage<T>): Promise<void> {
  const result = await schema['~standard'].validate(message.json<unknown>());
  if (result.issues !== undefined) throw new SchemaError(result.issues);
  message.replace(result.value);
}
