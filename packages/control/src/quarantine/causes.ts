import type { Evidence, Reason } from 'lazaret';

/** Letters with one cause: the same reason and fingerprint. */
export interface Cause {
  readonly reason: Reason;
  readonly fingerprint: string;
  readonly count: number;
  /** Of the first of them. */
  readonly why: string;
  /** Id of the first message of them. */
  readonly example: string;
}

export type Seen = Pick<Evidence, 'reason' | 'fingerprint' | 'why'> & { readonly id: string };

/** More causes than anybody reads. Letters beyond them are counted nowhere here. */
const KEPT = 1_000;

/** Letters by cause, as they come. */
export class Causes {
  readonly #causes = new Map<string, Cause>();

  add({ reason, fingerprint, why, id }: Seen): void {
    const name = `${reason}\n${fingerprint}`;
    const known = this.#causes.get(name);
    if (known === undefined && this.#causes.size === KEPT) return;
    this.#causes.set(name, { ...(known ?? { reason, fingerprint, why, example: id }), count: (known?.count ?? 0) + 1 });
  }

  /** The most frequent first. */
  list(): readonly Cause[] {
    return [...this.#causes.values()].sort((a, b) => b.count - a.count);
  }
}
