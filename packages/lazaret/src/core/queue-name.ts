import { LazaretError } from './errors.ts';
import { shown } from './option-error.ts';

const LONGEST_NAME = 255;

/** Throws LZ1003 for what is no name of a queue. */
export function checkQueueName(name: unknown): string {
  if (typeof name === 'string' && name.length > 0 && name.length <= LONGEST_NAME) return name;
  throw new LazaretError('LZ1003', `${shown(name)} is no name of a queue.`, {
    hint: `Write text of 1 to ${LONGEST_NAME} characters.`,
  });
}
