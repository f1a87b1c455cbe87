import type { Client } from './client.ts';
import type { Fault, Verb } from './faults.ts';
import type { World } from './shape.ts';
import { count } from './stats.ts';

/** What a call comes to when a fault meets it. What 'no answer' means is the driver's to say. */
export type Answer<T> = T | Error | 'refused' | 'unroutable' | 'no answer';

/** One answer per entry, in the same order; a fault that meets one of them harms no neighbour. Without faults, no promise per entry. */
export function exchange<Entry, T>(
  { faults, stats }: World,
  client: Client,
  verb: Verb,
  entries: readonly Entry[],
  act: (entry: Entry) => T | Promise<T>,
): Promise<Answer<T>[]> {
  count(stats, verb, entries.length);
  const answers = entries.map((entry) => {
    const fault = faults.next(verb);
    return fault === undefined ? act(entry) : suffer(fault, client, () => act(entry));
  });
  return answers.some(isPromise) ? Promise.all(answers) : Promise.resolve(answers as Answer<T>[]);
}

export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return value instanceof Promise;
}

/** Does `act` as far as the fault lets it. */
async function suffer<T>(fault: Fault, client: Client, act: () => T | Promise<T>): Promise<Answer<T>> {
  switch (fault) {
    case 'refused':
    case 'unroutable':
      return fault;
    case 'request-lost':
      return 'no answer';
    case 'reply-lost':
      await act();
      return 'no answer';
    case 'hang':
      await client.reconnected();
      return act();
    default:
      return fault;
  }
}

/** As Node reports a connection that ended under a call. */
export function connectionReset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
}
