import type { Rate } from '../duration.ts';
import type { BreakerChange } from './breaker.ts';

/** Something that people should hear of. `forMs`: how long it lasts at most, unless something else happens. */
export type StormChange =
  /** `dependency` is absent for the queue's own scope. A change by hand says so in its reason. */
  | ({ readonly what: 'breaker'; readonly dependency?: string } & BreakerChange)
  | { readonly what: 'paused'; readonly why: string; readonly fingerprint?: string; readonly forMs: number }
  | { readonly what: 'resumed'; readonly why: string }
  /** By hand. 0 ms: as before again. */
  | {
      readonly what: 'limited';
      readonly dependency?: string;
      readonly limit?: number;
      readonly rate?: Rate;
      readonly forMs: number;
      readonly why: string;
    }
  /** Goes no further into the quarantine, or does again. */
  | { readonly what: 'fused' | 'fuse-cleared'; readonly fingerprint: string; readonly why: string }
  /** Is nobody's fault and slowed, or is charged again. */
  | { readonly what: 'systemic' | 'systemic-cleared'; readonly fingerprint: string; readonly why: string };

/** How a reason begins that a person gave, so that nobody looks for another cause. */
export const BY_HAND = 'by hand: ';

/** More that nobody fetched are not kept: the newest say how things stand. */
const KEPT = 64;

/** Changes until they are told. */
export class Changes {
  #waiting: StormChange[] = [];

  add(change: StormChange): void {
    if (this.#waiting.length === KEPT) this.#waiting.shift();
    this.#waiting.push(change);
  }

  /** In their order, each once. Costs nothing while there are none. */
  take(): readonly StormChange[] {
    if (this.#waiting.length === 0) return NONE;
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}

const NONE: readonly StormChange[] = [];
