import { messagesLs } from './messages-ls.ts';
import { messagesRelease } from './messages-release.ts';
import { messagesShow } from './messages-show.ts';
import type { Operation } from './operation.ts';
import { queuesExplain } from './queues-explain.ts';
import { queuesLs } from './queues-ls.ts';
import { queuesShow } from './queues-show.ts';

/** Everything an operator can do, in the order in which help and reference list it. */
export const OPERATIONS: readonly Operation[] = [
  queuesLs,
  queuesShow,
  queuesExplain,
  messagesLs,
  messagesShow,
  messagesRelease,
];

/** What the nouns are, for help and for the reference. */
export const NOUNS: Readonly<Record<string, string>> = {
  queues: 'Queues: what waits in them, and what happens to a message that fails',
  messages: 'Quarantined messages: why they died, and putting them back',
};
