import type { MemoryServer } from '../../drivers/memory/index.ts';
import type { Broker } from '../../ports/broker.ts';
import type { Store } from '../../ports/store.ts';
import type { System } from '../../ports/system.ts';
import type { Chance } from './chance.ts';
import type { Ledger } from './ledger.ts';
import type { PendingFaults } from './pending-faults.ts';
import type { Reached } from './reached.ts';
import type { Referee } from './referee.ts';
import type { Scenario } from './scenario.ts';
import type { Trace } from './trace.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What everybody in one world shares. */
export interface Stage {
  readonly scenario: Scenario;
  readonly time: VirtualTime;
  /** Of the world itself; processes have their own. */
  readonly chance: Chance;
  readonly trace: Trace;
  readonly ledger: Ledger;
  readonly server: MemoryServer;
  /** Where processes keep what the server does not remember. */
  readonly store: Store | undefined;
  /** What stands between a process and the server. */
  readonly plant: (broker: Broker, system: System) => Broker;
  readonly pending: PendingFaults;
  readonly referee: Referee;
  readonly reached: Reached;
}
