import type { Scenario, Violation } from '../../../src/testing/world/index.ts';

/** A rule that is known to be broken, and where. Each entry goes with its fix. */
interface Open {
  readonly rule: string;
  readonly where: (scenario: Scenario) => boolean;
}

const inChannels = ({ server }: Scenario) => server.shape === 'channel';

const OPEN: readonly Open[] = [
  // A delivery is given back with a wait when its channel is about to be closed, and its successors do not wait for it.
  { rule: 'messages of a key run in order', where: inChannels },
  { rule: 'one message per key runs at a time', where: inChannels },
];

export function isOpen({ rule }: Violation, scenario: Scenario): boolean {
  return OPEN.some((open) => open.rule === rule && open.where(scenario));
}
