import { breakerAutomatic } from './breaker-automatic.ts';
import { breakerClose, breakerHalfOpen, breakerOpen } from './breaker-hold.ts';
import { breakerShow } from './breaker-show.ts';
import { messagesLs } from './messages-ls.ts';
import { messagesRelease } from './messages-release.ts';
import { messagesShow } from './messages-show.ts';
import type { Operation } from './operation.ts';
import { queuesExplain } from './queues-explain.ts';
import { queuesLs } from './queues-ls.ts';
import { queuesPause } from './queues-pause.ts';
import { queuesResume } from './queues-resume.ts';
import { queuesShow } from './queues-show.ts';

/** Everything an operator can do, in the order in which help and reference list it. */
export const OPERATIONS: readonly Operation[] = [
  queuesLs,
  queuesShow,
  queuesExplain,
  queuesPause,
  queuesResume,
  breakerShow,
  breakerOpen,
  breakerHalfOpen,
  breakerClose,
  breakerAutomatic,
  messagesLs,
  messagesShow,
  messagesRelease,
];

/** What the nouns are, for help and for the reference. */
export const NOUNS: Readonly<Record<string, string>> = {
  queues: 'Queues: what waits in them, and what happens to a message that fails',
  breaker: 'Breakers: what is kept from starting, why, and setting it by hand, always with an end',
  messages: 'Quarantined messages: why they died, and putting them back',
};
