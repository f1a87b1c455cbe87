import type { Broker } from '../ports/broker.ts';
import type { System } from '../ports/system.ts';
import { DELIVERY_FAULTS } from './planted-faults/delivery-faults.ts';
import { ENDING_FAULTS } from './planted-faults/ending-faults.ts';
import { FIDELITY_FAULTS } from './planted-faults/fidelity-faults.ts';
import { LOOKING_FAULTS } from './planted-faults/looking-faults.ts';
import { PUBLISHING_FAULTS } from './planted-faults/publishing-faults.ts';
import { PULLING_FAULTS } from './planted-faults/pulling-faults.ts';
import { SETTLING_FAULTS } from './planted-faults/settling-faults.ts';

/** A driver that is right but for one thing, and the cases that have to notice. */
export interface PlantedFault {
  readonly name: string;
  /** The shape of the memory driver in which it shows. */
  readonly shape: 'table' | 'channel' | 'log';
  /** Names of cases; each of them has to fail. */
  readonly caughtBy: readonly string[];
  plant(broker: Broker, system: System): Broker;
}

/** They prove that the conformance suite bites. */
export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ...PUBLISHING_FAULTS,
  ...FIDELITY_FAULTS,
  ...PULLING_FAULTS,
  ...DELIVERY_FAULTS,
  ...SETTLING_FAULTS,
  ...ENDING_FAULTS,
  ...LOOKING_FAULTS,
];
