import { normalise } from '../core/normalise.ts';

/** What somebody threw, as an Error: as it is, or, where it is none, one that says what is known of it and has it as its cause. */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const { name, message, code } = normalise(thrown);
  const error = new Error(message === '' ? name : `${name}: ${message}`, { cause: thrown });
  return code === undefined ? error : Object.assign(error, { code });
}
