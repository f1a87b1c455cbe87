import { clip, oneLine } from './clip.ts';
import { parseDuration } from './duration.ts';
import { jsonPath } from './json-path.ts';
import { peek } from './peek.ts';
import type { GivenIssue } from './schema.ts';

/** What a handler throws to say by itself how it failed. The brand also holds across two installed copies of the package. */
const BRAND = Symbol.for('lazaret.failure');

export type Brand = 'poison' | 'decode' | 'schema' | 'transient';

const BRANDS: readonly unknown[] = ['poison', 'decode', 'schema', 'transient'] satisfies readonly Brand[];

/** This message can never succeed: it is quarantined at once, whatever attempts are left. */
export class Poison extends Error {
  constructor(message?: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = new.target === Poison ? 'Poison' : new.target.name;
  }

  static {
    brand(Poison, 'poison');
  }
}

/** The body cannot be read: a poison whose letter has the reason `undecodable`. */
export class DecodeError extends Poison {
  /** Where reading stopped, as an offset in the text, where it was said or the cause is a JSON error that says it. */
  readonly position: number | undefined;

  constructor(message: string, options: { readonly position?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = 'DecodeError';
    this.position = options.position ?? positionIn(peek(options.cause, 'message'));
  }

  static {
    brand(DecodeError, 'decode');
  }
}

const JSON_POSITION = /at position (\d{1,15})/;

function positionIn(message: unknown): number | undefined {
  const [, digits] = (typeof message === 'string' && JSON_POSITION.exec(message)) || [];
  return digits === undefined ? undefined : Number(digits);
}

export interface SchemaIssue {
  /** Where, as a JSON path: `$.lines[2].sku`. */
  readonly path: string;
  readonly message: string;
}

const KEPT_ISSUES = 20;

/** The body can be read but is not what the schema asks for: a poison whose letter has the reason `schema`. */
export class SchemaError extends Poison {
  /** The first 20. */
  readonly issues: readonly SchemaIssue[];

  /** `issues` as a Standard Schema validator gives them. */
  constructor(issues: readonly GivenIssue[], options: { readonly cause?: unknown } = {}) {
    const kept = issues
      .slice(0, KEPT_ISSUES)
      .map(({ path, message }) => ({ path: jsonPath(path), message: clip(message, 500) }));
    super(summary(kept, issues.length), options);
    this.name = 'SchemaError';
    this.issues = kept;
  }

  static {
    brand(SchemaError, 'schema');
  }
}

export interface TransientOptions {
  /** How long the dependency wants to be left alone, with its unit: '30s'. What cannot be read throws at once (LZ1042, LZ1043, LZ1003). */
  readonly retryAfter?: string;
  /** The same in milliseconds, for values from outside: it is clamped to 0 … 24 h, never refused. `retryAfter` goes first. */
  readonly retryAfterMs?: number;
  /** Which dependency failed, for the breaker's scope. */
  readonly dependency?: string;
  readonly cause?: unknown;
}

/** A dependency's doing, not the message's: it is tried again. */
export class Transient extends Error {
  readonly retryAfterMs: number | undefined;
  readonly dependency: string | undefined;

  constructor(message?: string, options: TransientOptions = {}) {
    super(message, options);
    this.name = new.target === Transient ? 'Transient' : new.target.name;
    this.retryAfterMs =
      options.retryAfter === undefined ? options.retryAfterMs : parseDuration(options.retryAfter, 'retryAfter');
    this.dependency = options.dependency;
  }

  static {
    brand(Transient, 'transient');
  }
}

/** How `value` is branded, by whichever copy of the package. Never throws. */
export function brandOf(value: unknown): Brand | undefined {
  const found = peek(value, BRAND);
  return BRANDS.includes(found) ? (found as Brand) : undefined;
}

/** True of `DecodeError` and `SchemaError` too. Never throws. */
export function isPoison(value: unknown): value is Poison {
  const found = brandOf(value);
  return found !== undefined && found !== 'transient';
}

/** Never throws. */
export function isTransient(value: unknown): value is Transient {
  return brandOf(value) === 'transient';
}

/** Never throws. */
export function isDecodeError(value: unknown): value is DecodeError {
  return brandOf(value) === 'decode';
}

/** Never throws. */
export function isSchemaError(value: unknown): value is SchemaError {
  return brandOf(value) === 'schema';
}

/** On the prototype, so that it costs nothing per error, is inherited, and does not show when an error is printed. */
function brand(of: { readonly prototype: object }, value: Brand): void {
  Object.defineProperty(of.prototype, BRAND, { value });
}

function summary(issues: readonly SchemaIssue[], count: number): string {
  const [first] = issues;
  if (first === undefined) return 'body does not fit its schema';
  const more = count > 1 ? ` (and ${count - 1} more)` : '';
  return `body does not fit its schema at ${first.path}: ${oneLine(first.message, 200)}${more}`;
}
