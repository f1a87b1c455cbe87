import type { Services } from './services.ts';

/**
 * One thing that an operator can do. The command line, the HTTP API and the reference pages are all derived from the table
 * of operations, so whatever is not said here is said nowhere.
 */
export interface Operation<Input = never, Output = object> {
  /** Noun and verb: 'queues ls'. */
  readonly name: string;
  /** One sentence without a full stop, for lists of commands. */
  readonly summary: string;
  /** The property of the input that names what is acted on: an argument on the command line, a part of the path over HTTP. */
  readonly subject?: string;
  /** Of an object; its properties are the flags. */
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  /** The input fits its schema already, with defaults filled in. Throws LazaretErrors only. */
  run(services: Services, input: Input): Promise<Output>;
}

/**
 * The part of JSON Schema that operations use, as plain data: help and flags read it without loading anything, and
 * `Static` makes types of it.
 */
export interface JsonSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean' | 'null';
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly string[];
  readonly default?: string | number | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly format?: 'date-time';
}

export type { XStatic as Static } from 'typebox/schema';
