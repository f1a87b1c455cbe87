import { LazaretError } from '../../core/errors.ts';
import { shown } from '../../core/option-error.ts';
import { storeText } from '../text.ts';

/** What goes into a parameter. Text that is no clean UTF-8 is bound as a blob: read such columns with `loadText`. */
export type Parameter = null | number | bigint | string | Uint8Array;

/** What comes out of a column. `bigint` only from a statement prepared with `bigints`. */
export type Value = null | number | bigint | string | Uint8Array;

/** The columns of one row, in the order of the statement: arrays are a quarter faster than objects. */
export type Row = readonly Value[];

/** One SQLite connection, whichever binding made it. Everything is synchronous, and throws what the binding throws. */
export interface Database {
  /** Which binding, with its version where it tells one. */
  readonly binding: string;
  /** Integers are numbers: exact up to 2^53, beyond it the binding rounds or throws. With `bigints` all of them are exact bigints. */
  prepare(sql: string, options?: { readonly bigints?: boolean }): Statement;
  /** One or more statements without parameters and without answer. */
  exec(sql: string): void;
  /** Nothing for a database that somebody handed in. Harmless the second time. */
  close(): void;
}

/** Parameters are positional (`?`) and have to be there all of them. Booleans, `undefined` and NaN are refused (LZ1119). */
export interface Statement {
  /** How many rows it changed. */
  run(...parameters: Parameter[]): number;
  get(...parameters: Parameter[]): Row | undefined;
  all(...parameters: Parameter[]): Row[];
}

/**
 * Makes the parameters of one call alike for every binding, in place. By themselves some read a missing one as NULL,
 * some take booleans, and none keeps all text.
 */
export function checkParameters(parameters: Parameter[], wanted: number): Parameter[] {
  if (parameters.length !== wanted) {
    throw new LazaretError('LZ1119', `a statement takes ${wanted} parameters, but ${parameters.length} were given.`);
  }
  for (let i = 0; i < wanted; i++) {
    const value = parameters[i];
    if (typeof value === 'string') parameters[i] = storeText(value);
    else if (!isBindable(value)) {
      throw new LazaretError('LZ1119', `parameter ${i + 1} is ${shown(value)}, which SQLite cannot hold as it is.`, {
        hint: 'Bind null, a number, a bigint, text or a Uint8Array.',
      });
    }
  }
  return parameters;
}

function isBindable(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isNaN(value);
  return value === null || typeof value === 'bigint' || value instanceof Uint8Array;
}

/** How many `?` the statement has outside of quotes and comments. */
export function countParameters(sql: string): number {
  return sql.replace(/'[^']*'|"[^"]*"|--[^\n]*/g, '').split('?').length - 1;
}
