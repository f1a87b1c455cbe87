import { checkDelay } from '../../core/table-delay.ts';
import type { Extension, Settlement } from '../../ports/broker.ts';
import { type Database, numbers } from './database.ts';
import { receiptOf } from './receipt.ts';

/** Ending leases by all but an ack, and lengthening them. Both answer the places in `batch` of what was still ours. */
export class Settling {
  readonly #database: Database;
  readonly #settle: string;
  readonly #extend: string;

  constructor(database: Database) {
    this.#database = database;
    this.#settle = `SELECT ${database.schema}.settle_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS done`;
    this.#extend = `SELECT ${database.schema}.extend_1($1, $2, $3) AS done`;
  }

  async settle(queue: number, inOrder: boolean, batch: readonly Settlement[]): Promise<ReadonlySet<number>> {
    const evidences = batch.map((settlement) => (settlement.verb === 'deadLetter' ? settlement.evidence : undefined));
    const [row] = await this.#database.ask('settle', this.#settle, [
      queue,
      inOrder,
      batch.map(verbOf),
      numbers(batch.map(({ delivery }) => receiptOf(delivery).seq)),
      numbers(batch.map(({ delivery }) => receiptOf(delivery).token)),
      numbers(batch.map((settlement) => ('delayMs' in settlement ? checkDelay(settlement.delayMs) : 0))),
      numbers(batch.map((settlement) => ('notBefore' in settlement ? Math.round(settlement.notBefore!) : null))),
      evidences.map((evidence) => (evidence === undefined ? null : JSON.stringify(evidence))),
      evidences.map((evidence) => evidence?.reason ?? null),
      evidences.map((evidence) => evidence?.fingerprint ?? null),
    ]);
    return placesOf(row?.done);
  }

  async extend(batch: readonly Extension[]): Promise<ReadonlySet<number>> {
    const [row] = await this.#database.ask('extend', this.#extend, [
      numbers(batch.map(({ delivery }) => receiptOf(delivery).seq)),
      numbers(batch.map(({ delivery }) => receiptOf(delivery).token)),
      numbers(batch.map(({ leaseMs }) => Math.round(leaseMs))),
    ]);
    return placesOf(row?.done);
  }
}

/** A hold with a charge is a verb of its own for the function. */
function verbOf(settlement: Settlement): string {
  return settlement.verb === 'hold' && settlement.charged ? 'charge' : settlement.verb;
}

/** PostgreSQL counts from 1. */
function placesOf(done: unknown): ReadonlySet<number> {
  return new Set((done as readonly number[]).map((place) => place - 1));
}
