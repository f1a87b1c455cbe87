import { causeChain, MAX_CAUSES } from '../../core/cause-chain.ts';
import { clip } from '../../core/clip.ts';
import type { Brand } from '../../core/failures.ts';
import { brandOf, DecodeError, Poison, SchemaError, Transient } from '../../core/failures.ts';
import type { NormalError } from '../../core/normalise.ts';
import { ERROR_LIMIT, normaliseChain } from '../../core/normalise.ts';
import { peek, peekItems } from '../../core/peek.ts';
import { retryAfterOf } from '../../core/retry-after.ts';
import { isCount, isListOf, isRecord, isText } from './guards.ts';

/**
 * A thrown value on its way to another process: the links of its cause chain, each reduced to what classification looks at. Rebuilt, it
 * is classified as the original would have been. Its class, and fields of its own, stay behind.
 */
export type Thrown = readonly Link[];

type Link = ThrownPrimitive | ThrownObject;

interface ThrownPrimitive {
  readonly type: (typeof PRIMITIVES)[number];
  readonly text: string;
}

interface ThrownObject {
  readonly type: 'object';
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  /** A number stays one: only text is a SQLSTATE. */
  readonly code?: string | number | undefined;
  readonly status?: number | undefined;
  readonly brand?: Brand | undefined;
  readonly dependency?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly errcode?: number | undefined;
  readonly errorLabels?: readonly string[] | undefined;
  /** It carries what gRPC's errors carry. */
  readonly grpc?: boolean | undefined;
  /** It carries what AWS's errors carry. */
  readonly aws?: boolean | undefined;
}

const PRIMITIVES = ['string', 'number', 'boolean', 'bigint', 'symbol', 'undefined', 'null', 'function'] as const;

/** What each brand is rebuilt as. */
const BRANDED: Readonly<Record<Brand, { readonly prototype: Error }>> = {
  poison: Poison,
  decode: DecodeError,
  schema: SchemaError,
  transient: Transient,
};

const MAX_LABELS = 8;
const LONGEST_WORD = 256;

// --- packing, where it was thrown

/** Never throws. `now` (epoch milliseconds) is what a `Retry-After` date counts from. */
export function packThrown(thrown: unknown, now: number): Thrown {
  const chain = causeChain(thrown);
  const first = normaliseChain(chain);
  return [first, ...first.causes].map((error, at) => packLink(chain[at], error, now));
}

function packLink(link: unknown, error: NormalError, now: number): Link {
  if (link === null) return { type: 'null', text: '' };
  if (typeof link === 'function') return { type: 'function', text: error.message.slice('function '.length) };
  if (typeof link !== 'object') return { type: typeof link as ThrownPrimitive['type'], text: error.message };
  const code = peek(link, 'code');
  const dependency = peek(link, 'dependency');
  const errcode = peek(link, 'errcode');
  return {
    type: 'object',
    name: error.name,
    message: error.message,
    stack: error.stack,
    code: isFiniteNumber(code) ? code : error.code,
    status: error.status,
    brand: brandOf(link),
    dependency: typeof dependency === 'string' ? clip(dependency, LONGEST_WORD) : undefined,
    retryAfterMs: retryAfterOf(link, now),
    errcode: isFiniteNumber(errcode) ? errcode : undefined,
    errorLabels: labelsOf(link),
    grpc: isRecord(peek(link, 'metadata')) || typeof peek(link, 'details') === 'string',
    aws: peek(link, '$metadata') !== undefined,
  };
}

function labelsOf(link: object): string[] {
  return peekItems(peek(link, 'errorLabels'), MAX_LABELS)
    .filter((label) => typeof label === 'string')
    .map((label) => clip(label, LONGEST_WORD));
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

// --- reading: it may have been written by anybody

/** Whether `value`, parsed from JSON, can be rebuilt. */
export function isThrown(value: unknown): value is Thrown {
  return isListOf(value, MAX_CAUSES + 1, isLink) && value.length > 0;
}

function isLink(value: unknown): value is Link {
  if (!isRecord(value)) return false;
  if (value.type !== 'object') return isOneOf(PRIMITIVES, value.type) && isText(value.text, ERROR_LIMIT.message);
  return (
    isText(value.name, ERROR_LIMIT.name) &&
    isText(value.message, ERROR_LIMIT.message) &&
    isAbsentOr(value.stack, (stack) => isText(stack, ERROR_LIMIT.stack)) &&
    isAbsentOr(value.code, (code) => isText(code, ERROR_LIMIT.code) || isFiniteNumber(code)) &&
    isAbsentOr(value.status, (status) => isCount(status, 599)) &&
    isAbsentOr(value.brand, (brand) => isOneOf(Object.keys(BRANDED), brand)) &&
    isAbsentOr(value.dependency, (dependency) => isText(dependency, LONGEST_WORD)) &&
    isAbsentOr(value.retryAfterMs, (ms) => isCount(ms)) &&
    isAbsentOr(value.errcode, isFiniteNumber) &&
    isAbsentOr(value.errorLabels, (labels) => isListOf(labels, MAX_LABELS, isWord))
  );
}

function isAbsentOr(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || is(value);
}

function isOneOf(words: readonly string[], value: unknown): boolean {
  return words.includes(value as string);
}

function isWord(value: unknown): value is string {
  return isText(value, LONGEST_WORD);
}

// --- rebuilding, where it is classified

/** A value that `classify` and `normalise` cannot tell from the original. Objects come back as errors. */
export function rebuildThrown(thrown: Thrown): unknown {
  const [first, ...causes] = thrown.map(rebuildLink);
  if (first instanceof Error && causes.length > 0) {
    // In a line, so that each cause has its own, and listed, because a primitive among them ends the line.
    Object.assign(first, { errors: causes });
    [first, ...causes].forEach((link, at, all) => {
      if (link instanceof Error && at + 1 < all.length) link.cause = all[at + 1];
    });
  }
  return first;
}

function rebuildLink(link: Link): unknown {
  if (link.type === 'object') return rebuildError(link);
  switch (link.type) {
    case 'string':
      return link.text;
    case 'number':
      return Number(link.text);
    case 'boolean':
      return link.text === 'true';
    case 'bigint':
      return rebuildBigint(link.text);
    case 'symbol':
      return Symbol(link.text);
    case 'undefined':
      return undefined;
    case 'null':
      return null;
    case 'function':
      return Object.defineProperty(() => undefined, 'name', { value: link.text });
  }
}

const WHOLE_NUMBER = /^-?\d{1,41}$/;
/** Stands for all that are too large to be written out. */
const HUGE_BIGINT = 10n ** 100n;

function rebuildBigint(text: string): bigint {
  return WHOLE_NUMBER.test(text) ? BigInt(text) : HUGE_BIGINT;
}

function rebuildError(link: ThrownObject): Error {
  const { type: _, brand, stack, grpc, aws, ...said } = link;
  const error = new Error(link.message);
  if (brand !== undefined) Object.setPrototypeOf(error, BRANDED[brand].prototype);
  for (const [name, value] of Object.entries({ ...said, stack })) {
    Object.defineProperty(error, name, { value, configurable: true, writable: true, enumerable: false });
  }
  if (brand === 'schema') Object.assign(error, { issues: [] });
  if (grpc === true) Object.assign(error, { metadata: {} });
  if (aws === true) Object.assign(error, { $metadata: {} });
  return error;
}
