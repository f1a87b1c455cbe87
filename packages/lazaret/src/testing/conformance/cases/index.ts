import type { Case } from '../case.ts';
import { DEAD_LETTER_CASES } from './dead-letters.ts';
import { DELAY_CASES } from './delays.ts';
import { FIDELITY_CASES } from './fidelity.ts';
import { INSPECT_CASES } from './inspect.ts';
import { LEASE_CASES } from './leases.ts';
import { LOST_CASES } from './lost.ts';
import { ORDER_CASES } from './order.ts';
import { PUBLISH_CASES } from './publish.ts';
import { PULL_CASES } from './pull.ts';
import { SETTLE_CASES } from './settles.ts';
import { SHUTDOWN_CASES } from './shutdown.ts';
import { START_CASES } from './starts.ts';

/** Everything that is asked of a driver, by theme. */
export const THEMES: Readonly<Record<string, readonly Case[]>> = {
  pull: PULL_CASES,
  leases: LEASE_CASES,
  starts: START_CASES,
  settles: SETTLE_CASES,
  delays: DELAY_CASES,
  order: ORDER_CASES,
  'dead letters': DEAD_LETTER_CASES,
  publish: PUBLISH_CASES,
  fidelity: FIDELITY_CASES,
  lost: LOST_CASES,
  shutdown: SHUTDOWN_CASES,
  inspect: INSPECT_CASES,
};
