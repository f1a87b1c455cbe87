import { causeChain } from './cause-chain.ts';
import { clip } from './clip.ts';
import { isArray, peek } from './peek.ts';
import { framesStart } from './stack-head.ts';

/** Any thrown value, made safe to show, log and store: bounded in size, no getters left, nothing that can throw. */
export interface NormalError {
  /** Class or type name, at most 256 characters. */
  readonly name: string;
  /** At most 8 KiB of UTF-16 units. */
  readonly message: string;
  /** At most 32 KiB; absent where the value has none. */
  readonly stack?: string;
  /** `code` of the error (errno, SQLSTATE, AWS or gRPC name), as text. */
  readonly code?: string;
  /** HTTP-like status, where one is carried. */
  readonly status?: number;
  /** The cause chain below this error, nearest first, at most 8; each without its own causes. */
  readonly causes: readonly NormalError[];
}

/** In UTF-16 units. */
export const ERROR_LIMIT = { name: 256, message: 8_192, stack: 32_768, code: 256 } as const;

/**
 * Texts beyond it are counted, not read: to look at the first character of a joined text V8 joins all of it, at a millisecond
 * or two per MiB. Of the thrown error itself more is read than of its many causes.
 */
const READABLE = { thrown: 1.5 * 1024 * 1024, cause: 128 * 1024 } as const;

/** Numbers beyond it are not written out: digits of a huge bigint take seconds. */
const WRITABLE_BIGINT = 10n ** 40n;

/** Where a thrown object without a `message` usually says what is wrong. */
const OTHER_MESSAGES = ['error', 'reason', 'detail', 'details', 'description', 'title', 'errorMessage', 'msg'] as const;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * What can be said about any thrown value. Never throws, whatever the value does when it is asked; only getters are run,
 * never `toString` or `toJSON`. Texts keep their control characters and can always be encoded (lone surrogates become U+FFFD).
 */
export function normalise(value: unknown): NormalError {
  return normaliseChain(causeChain(value));
}

/** The same for a chain that `causeChain` gave: the first link, with the others as its causes in the same order. */
export function normaliseChain(chain: readonly unknown[]): NormalError {
  const [thrown, ...causes] = chain;
  return describe(
    thrown,
    causes.map((cause) => describe(cause, NO_CAUSES, READABLE.cause)),
    READABLE.thrown,
  );
}

const NO_CAUSES: readonly NormalError[] = Object.freeze([]);

function describe(value: unknown, causes: readonly NormalError[], readable: number): NormalError {
  switch (typeof value) {
    case 'object':
      return value === null
        ? { name: 'null', message: 'null was thrown', causes }
        : describeObject(value, causes, readable);
    case 'function':
      return { name: 'function', message: `function ${shortText(peek(value, 'name')) ?? ''}`, causes };
    case 'undefined':
      return { name: 'undefined', message: 'undefined was thrown', causes };
    case 'string':
      return { name: 'string', message: clipMessage(value, readable), causes };
    case 'symbol':
      return { name: 'symbol', message: clipMessage(value.description ?? '', READABLE.cause), causes };
    case 'bigint':
      return { name: 'bigint', message: writeBigint(value), causes };
    default:
      return { name: typeof value, message: String(value), causes };
  }
}

function describeObject(value: object, causes: readonly NormalError[], readable: number): NormalError {
  const name = nameOf(value);
  const message = messageOf(value);
  const error: Mutable<NormalError> = {
    name,
    message: message === undefined ? `${name} without a message was thrown` : clipMessage(message, readable),
    causes,
  };
  const stack = peek(value, 'stack');
  if (typeof stack === 'string' && stack.length <= readable) error.stack = clipStack(stack, message);
  const code = shortText(peek(value, 'code'));
  if (code !== undefined) error.code = code;
  const status = statusOf(value);
  if (status !== undefined) error.status = status;
  return error;
}

/** A class that only extends Error says 'Error' of itself; its constructor knows better. */
function nameOf(value: object): string {
  const name = shortText(peek(value, 'name'));
  if (name !== undefined && name !== '' && name !== 'Error') return name;
  const className = shortText(peek(peek(value, 'constructor'), 'name'));
  if (className !== undefined && className !== '') return className;
  return name === 'Error' ? 'Error' : 'Object';
}

function messageOf(value: object): string | undefined {
  const message = textOf(peek(value, 'message'));
  if (message !== undefined) return message;
  if (isArray(value)) return `an array of ${textOf(peek(value, 'length')) ?? 'unknown length'} was thrown`;
  for (const key of OTHER_MESSAGES) {
    const said = peek(value, key);
    if (typeof said === 'string' && said !== '') return said;
  }
  return undefined;
}

function clipMessage(message: string, readable: number): string {
  if (message.length > readable) return `a message of ${message.length} characters`;
  return clip(message, ERROR_LIMIT.message);
}

/** The stack repeats the message; where that is too long it would push the frames out. */
function clipStack(stack: string, message: string | undefined): string {
  if (stack.length <= ERROR_LIMIT.stack || message === undefined || message.length < ERROR_LIMIT.name) {
    return clip(stack, ERROR_LIMIT.stack);
  }
  const start = framesStart(stack, message);
  if (stack.charAt(start) !== '\n') return clip(stack, ERROR_LIMIT.stack);
  const head = `${stack.slice(0, start - message.length)}${clip(message, ERROR_LIMIT.name)}`;
  return clip(`${head}${stack.slice(start)}`, ERROR_LIMIT.stack);
}

function writeBigint(value: bigint): string {
  return value < WRITABLE_BIGINT && value > -WRITABLE_BIGINT ? String(value) : 'a bigint of more than 40 digits';
}

/** Of a name or a code; one that is too long to be read is none. */
function shortText(value: unknown): string | undefined {
  const text = textOf(value);
  return text === undefined || text.length > READABLE.cause ? undefined : clip(text, ERROR_LIMIT.name);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

/**
 * An HTTP status where clients keep it: `status`, `statusCode`, the same of `response` (axios, got, fetch wrappers), and
 * `$metadata.httpStatusCode` (AWS). Below 300 it is no answer of a server: process exit codes live there too.
 */
function statusOf(value: object): number | undefined {
  const response = peek(value, 'response');
  return (
    httpStatus(peek(value, 'status')) ??
    httpStatus(peek(value, 'statusCode')) ??
    httpStatus(peek(response, 'status')) ??
    httpStatus(peek(response, 'statusCode')) ??
    httpStatus(peek(peek(value, '$metadata'), 'httpStatusCode'))
  );
}

function httpStatus(value: unknown): number | undefined {
  const status = typeof value === 'string' && value.length === 3 ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 300 && status < 600 ? status : undefined;
}
