import { isLazaretError } from '../../src/core/errors.ts';

/** Code and message of the LazaretError that `act` throws; anything else is a failure of the test. */
export function refusal(act: () => unknown): { code: string; message: string } {
  try {
    act();
  } catch (thrown) {
    if (isLazaretError(thrown)) return { code: thrown.code, message: thrown.message };
    throw thrown;
  }
  throw new Error('nothing was thrown');
}
