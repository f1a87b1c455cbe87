import { connectionReset } from '../../drivers/memory/exchange.ts';
import type { Fault, Verb } from '../../drivers/memory/faults.ts';
import type { CallFault, FaultPlan } from './scenario.ts';

type Occasion = Verb | 'no connection' | 'alone fails';

/** Faults that wait for somebody to meet them. */
export class PendingFaults {
  readonly #waiting = new Map<Occasion, FaultPlan[]>();

  add(occasion: Occasion, fault: FaultPlan): void {
    const waiting = this.#waiting.get(occasion);
    if (waiting === undefined) this.#waiting.set(occasion, [fault]);
    else waiting.push(fault);
  }

  /** The next fault that a call meets. */
  call(verb: Verb): CallFault | undefined {
    return this.#waiting.get(verb)?.shift() as CallFault | undefined;
  }

  /** Whether it happens now. */
  happens(occasion: 'no connection' | 'alone fails'): boolean {
    return this.#waiting.get(occasion)?.shift() !== undefined;
  }

  clear(): void {
    this.#waiting.clear();
  }
}

/** As the server's script spells it. */
export function scripted({ fault }: CallFault): Fault {
  return fault === 'error' ? connectionReset() : fault;
}
