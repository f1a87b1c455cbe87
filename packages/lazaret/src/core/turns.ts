/** What one turn brought: the places, among its acks, of those that were not ours any more, and what was claimed. */
export interface TurnAnswer<C> {
  readonly lost: ReadonlySet<number>;
  readonly claimed: C;
}

export interface TurnsSetup<R, C> {
  /** Runs what it is given at the end of this loop turn. */
  readonly turn: (run: () => void) => void;
  /** Acknowledges and claims, in one request. `most` 0: nothing is claimed. */
  readonly ask: (acks: readonly R[], most: number) => Promise<TurnAnswer<C>>;
}

interface Acks<R> {
  readonly receipts: readonly R[];
  readonly answer: (lost: ReadonlySet<number>) => void;
  readonly fail: (error: unknown) => void;
}

interface Claim<C> {
  readonly most: number;
  readonly answer: (claimed: C) => void;
  readonly fail: (error: unknown) => void;
}

/** Requests under way at once: what gets ready meanwhile goes together in the next. */
const UNDER_WAY_AT_MOST = 2;
const NONE: ReadonlySet<number> = new Set();

/** For brokers that can acknowledge and claim in one request: what is asked for in one loop turn travels together. */
export class Turns<R, C> {
  readonly #setup: TurnsSetup<R, C>;
  #acks: Acks<R>[] = [];
  #claim: Claim<C> | undefined;
  #underWay = 0;
  #isPlanned = false;

  constructor(setup: TurnsSetup<R, C>) {
    this.#setup = setup;
  }

  /** Answers the places of those that are not ours any more. */
  acknowledge(receipts: readonly R[]): Promise<ReadonlySet<number>> {
    return new Promise((answer, fail) => {
      this.#acks.push({ receipts, answer, fail });
      this.#plan();
    });
  }

  /** One at a time. */
  claim(most: number): Promise<C> {
    return new Promise((answer, fail) => {
      this.#claim = { most, answer, fail };
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#isPlanned || this.#underWay >= UNDER_WAY_AT_MOST) return;
    this.#isPlanned = true;
    this.#setup.turn(() => {
      this.#isPlanned = false;
      void this.#go();
    });
  }

  async #go(): Promise<void> {
    const acks = this.#acks;
    const claim = this.#claim;
    this.#acks = [];
    this.#claim = undefined;
    this.#underWay++;
    try {
      const receipts = acks.length === 1 ? acks[0]!.receipts : acks.flatMap((each) => each.receipts);
      const { lost, claimed } = await this.#setup.ask(receipts, claim?.most ?? 0);
      let from = 0;
      for (const { receipts: own, answer } of acks) {
        answer(lost.size === 0 ? NONE : placesOf(lost, from, own.length));
        from += own.length;
      }
      claim?.answer(claimed);
    } catch (error) {
      for (const { fail } of acks) fail(error);
      claim?.fail(error);
    }
    this.#underWay--;
    if (this.#acks.length > 0 || this.#claim !== undefined) this.#plan();
  }
}

function placesOf(all: ReadonlySet<number>, from: number, count: number): ReadonlySet<number> {
  return new Set([...all].filter((place) => place >= from && place < from + count).map((place) => place - from));
}
