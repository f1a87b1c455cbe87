import type { System } from '../../ports/system.ts';
import type { PgRow } from './client.ts';
import { type Database, numbers } from './database.ts';
import type { Receipt } from './receipt.ts';

/** Statements under way at once: what gets ready meanwhile goes together in the next. */
const UNDER_WAY_AT_MOST = 2;

interface Acks {
  readonly receipts: readonly Receipt[];
  readonly answer: (lost: ReadonlySet<number>) => void;
  readonly fail: (error: unknown) => void;
}

interface Claim {
  readonly most: number;
  readonly answer: (rows: readonly PgRow[]) => void;
  readonly fail: (error: unknown) => void;
}

export interface TurnsSetup {
  readonly database: Database;
  readonly system: System;
  readonly queue: number;
  readonly inOrder: boolean;
  readonly leaseMs: number;
}

/** Acknowledges and claims: what is asked for in one loop turn travels in one statement. */
export class Turns {
  readonly #setup: TurnsSetup;
  readonly #text: string;
  #acks: Acks[] = [];
  #claim: Claim | undefined;
  #underWay = 0;
  #isPlanned = false;

  constructor(setup: TurnsSetup) {
    this.#setup = setup;
    this.#text = `SELECT * FROM ${setup.database.schema}.turn_1($1, $2, $3, $4, $5, $6)`;
  }

  /** Answers the seqs of those that are not ours any more. */
  acknowledge(receipts: readonly Receipt[]): Promise<ReadonlySet<number>> {
    return new Promise((answer, fail) => {
      this.#acks.push({ receipts, answer, fail });
      this.#plan();
    });
  }

  /** One at a time. Answers rows of all kinds. */
  claim(most: number): Promise<readonly PgRow[]> {
    return new Promise((answer, fail) => {
      this.#claim = { most, answer, fail };
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#isPlanned || this.#underWay >= UNDER_WAY_AT_MOST) return;
    this.#isPlanned = true;
    this.#setup.system.turn(() => {
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
      const rows = await this.#ask(acks, claim?.most ?? 0);
      const lost = new Set<number>();
      for (const { kind, seq } of rows) if (kind === 'lost') lost.add(seq as number);
      for (const { answer } of acks) answer(lost);
      claim?.answer(rows);
    } catch (error) {
      for (const { fail } of acks) fail(error);
      claim?.fail(error);
    }
    this.#underWay--;
    if (this.#acks.length > 0 || this.#claim !== undefined) this.#plan();
  }

  #ask(acks: readonly Acks[], most: number): Promise<readonly PgRow[]> {
    const { database, queue, inOrder, leaseMs } = this.#setup;
    const receipts = acks.length === 1 ? acks[0]!.receipts : acks.flatMap(({ receipts }) => receipts);
    const seqs = numbers(receipts.map(({ seq }) => seq));
    const tokens = numbers(receipts.map(({ token }) => token));
    return database.ask('turn', this.#text, [queue, inOrder, seqs, tokens, most, leaseMs]);
  }
}
