import type { Scenario, Violation } from '../../../src/testing/world/index.ts';

/** A rule that is known to be broken, and where. Each entry goes with its fix. */
interface Open {
  readonly rule: string;
  readonly where: (scenario: Scenario) => boolean;
}

const inChannels = ({ server }: Scenario) => server.shape === 'channel';
const inBatches = ({ queues }: Scenario) => queues.some(({ batch }) => batch !== undefined);

const OPEN: readonly Open[] = [
  // A delivery is given back with a wait when its channel is about to be closed, and its successors do not wait for it.
  { rule: 'messages of a key run in order', where: inChannels },
  { rule: 'one message per key runs at a time', where: inChannels },
  // A process that stands still while it gathers a batch charges messages that no handler saw.
  { rule: 'only a failure raises the attempt', where: inBatches },
  { rule: 'a retry follows a failure', where: inBatches },
  { rule: 'a letter says exhausted after all attempts', where: inBatches },
];

export function isOpen({ rule }: Violation, scenario: Scenario): boolean {
  return OPEN.some((open) => open.rule === rule && open.where(scenario));
}
