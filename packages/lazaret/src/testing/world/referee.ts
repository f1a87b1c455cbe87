import type { Settlement } from '../../ports/broker.ts';
import type { StopCounts } from '../../runtime/consumer.ts';
import type { HandOut, Ledger, Life, Run } from './ledger.ts';
import type { Scenario } from './scenario.ts';

/** What must hold in every world. M1 to M10 are the invariants of a message's life. */
export type Invariant =
  | 'M1'
  | 'M2'
  | 'M3'
  | 'M4'
  | 'M5'
  | 'M6'
  | 'M7'
  | 'M8'
  | 'M9'
  | 'M10'
  | 'order'
  | 'leak'
  | 'error';

export interface Violation {
  readonly invariant: Invariant;
  /** The rule that was broken, the same words each time. */
  readonly rule: string;
  readonly at: number;
  /** What broke it. */
  readonly what: string;
  readonly message: number | undefined;
}

export interface Facts {
  readonly scenario: Scenario;
  readonly ledger: Ledger;
  readonly now: number;
  /** Copies of dead letters that lie in the dead-letter queue, by message id. */
  letters(life: Life): number;
}

/** A stop that was answered. */
export interface Stop {
  readonly process: string;
  readonly calledAt: number;
  readonly withinMs: number;
  readonly answeredAt: number;
  readonly counts: StopCounts;
  /** The process stood still so long meanwhile. */
  readonly pausedMs: number;
  /** Nothing else went wrong while it stopped. */
  readonly undisturbed: boolean;
}

/** Who says a settlement. */
export interface Speaker {
  readonly isStopping: boolean;
}

export type Tell = (rule: string, what: string, life?: Life) => void;

/** One invariant. Each hook tells what it finds broken. */
export interface Checker {
  readonly invariant: Invariant;
  /** A handler was started. */
  started?(run: Run, facts: Facts, tell: Tell): void;
  /** A process says it. */
  said?(handOut: HandOut, settlement: Settlement, speaker: Speaker, tell: Tell): void;
  stopped?(stop: Stop, facts: Facts, tell: Tell): void;
  /** Nothing happens any more. */
  over?(facts: Facts, tell: Tell): void;
}

/** Asks all checkers, and keeps what they find. */
export class Referee {
  readonly violations: Violation[] = [];
  readonly #checkers: readonly Checker[];
  readonly facts: Facts;

  constructor(checkers: readonly Checker[], facts: Facts) {
    this.#checkers = checkers;
    this.facts = facts;
  }

  started(run: Run): void {
    for (const checker of this.#checkers) checker.started?.(run, this.facts, this.#tell(checker.invariant));
  }

  said(handOut: HandOut, settlement: Settlement, speaker: Speaker): void {
    for (const checker of this.#checkers) {
      checker.said?.(handOut, settlement, speaker, this.#tell(checker.invariant));
    }
  }

  stopped(stop: Stop): void {
    for (const checker of this.#checkers) checker.stopped?.(stop, this.facts, this.#tell(checker.invariant));
  }

  over(): void {
    for (const checker of this.#checkers) checker.over?.(this.facts, this.#tell(checker.invariant));
  }

  report(invariant: Invariant, rule: string, what: string, life?: Life): void {
    this.#tell(invariant)(rule, what, life);
  }

  #tell(invariant: Invariant): Tell {
    return (rule, what, life) => {
      this.violations.push({ invariant, rule, at: this.facts.now, what, message: life?.plan.index });
    };
  }
}
