import { type ErrorCode, isLazaretError, LazaretError, normalise } from 'lazaret/core';

/** What an error says to whoever stands at a face. The texts may hold what a message or a handler said: not safe to print as they are. */
export interface Refusal {
  /** Absent for what Lazaret did not raise itself. */
  readonly code?: ErrorCode;
  /** What happened, with which value. */
  readonly message: string;
  /** What to do. */
  readonly hint?: string;
}

/** Never throws, whatever was thrown. */
export function refusalOf(thrown: unknown): Refusal {
  if (isLazaretError(thrown)) {
    const { code, hint, message } = thrown;
    if (hint === undefined) return { code, message };
    return { code, message: message.endsWith(hint) ? message.slice(0, -hint.length).trimEnd() : message, hint };
  }
  const { name, message } = normalise(thrown);
  return { message: name === 'Error' ? message : `${name}: ${message}` };
}

/** An error for a face to show: `message` says what happened, `hint` what to do. */
export function refuse(code: ErrorCode, message: string, hint?: string): Error {
  return new LazaretError(code, message, hint === undefined ? {} : { hint });
}
