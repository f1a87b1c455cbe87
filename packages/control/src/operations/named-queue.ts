import { didYouMean } from 'lazaret/core';
import { refuse } from './refusal.ts';
import type { Queue, Services } from './services.ts';

/** The queue that `name` names. LZ1302 where there is none, with the one that was probably meant. */
export async function namedQueue(services: Services, name: string): Promise<Queue> {
  const queues = await services.queues();
  const found = queues.find((queue) => queue.name === name);
  if (found !== undefined) return found;
  const names = queues.map((queue) => queue.name);
  throw refuse('LZ1302', `there is no queue '${name}'.`, hint(didYouMean(name, names), names));
}

const NAMED = 10;

function hint(meant: string | undefined, names: readonly string[]): string {
  if (meant !== undefined) return `Did you mean '${meant}'?`;
  if (names.length === 0) return 'No message was ever sent into this file.';
  return `There are: ${names.slice(0, NAMED).join(', ')}${names.length > NAMED ? ' …' : ''}.`;
}
