import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Evidence } from '../../src/core/evidence.ts';
import { openSqlite, type SqliteBroker } from '../../src/drivers/sqlite/broker.ts';
import type { SqliteOptions } from '../../src/drivers/sqlite/options.ts';
import type { Delivery, OutgoingMessage, SubscribeOptions, Subscription } from '../../src/ports/broker.ts';
import { type Database, openBinding } from '../../src/sqlite/binding.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';

/** One database file under a manual System, and everybody who opened it. */
export class Scene {
  readonly system = new ManualSystem();
  readonly folder = mkdtempSync(join(tmpdir(), 'lazaret-sqlite-'));
  readonly file = join(this.folder, 'test.db');
  readonly #ends: (() => unknown)[] = [];

  async broker(options: Partial<SqliteOptions> = {}): Promise<SqliteBroker> {
    const file = options.database === undefined ? { file: this.file } : {};
    const broker = await openSqlite({ ...file, ...options, system: this.system });
    this.#ends.push(() => broker.close());
    return broker;
  }

  /** A connection of somebody else: another process, a shell, a backup. */
  async stranger(): Promise<Database> {
    const db = await openBinding(this.file);
    this.#ends.push(() => db.close());
    return db;
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export const QUEUE = 'orders';

/** What a subscription told. */
export interface Told {
  suspects: number[];
}

export function subscribe(
  broker: SqliteBroker,
  options: Partial<SubscribeOptions> = {},
  told: Told = { suspects: [] },
): Promise<Subscription> {
  return broker.subscribe(QUEUE, {
    prefetch: 100,
    leaseMs: 10_000,
    waitMs: 0,
    order: 'none',
    maxAttempts: 4,
    lost: () => {},
    suspects: (waiting) => void told.suspects.push(waiting),
    ...options,
  });
}

export function pull(subscription: Subscription, max = 100): Promise<readonly Delivery[]> {
  return subscription.pull(max, new AbortController().signal);
}

export async function one(subscription: Subscription): Promise<Delivery> {
  const [delivery] = await pull(subscription, 1);
  if (delivery === undefined) throw new Error('the queue is empty');
  return delivery;
}

export function message(text: string, rest: Omit<OutgoingMessage, 'body'> = {}): OutgoingMessage {
  return { id: `id-${text}`, body: new TextEncoder().encode(text), ...rest };
}

export function textOf({ message: { body } }: Delivery): string {
  return new TextDecoder().decode(body ?? undefined);
}

export function evidenceFor(delivery: Delivery, deadAt: number, rest: Partial<Evidence> = {}): Evidence {
  return {
    reason: 'poison',
    queue: QUEUE,
    attempts: delivery.attempt,
    strikes: delivery.strikes ?? 0,
    firstSeenAt: delivery.firstSeenAt,
    deadAt,
    fingerprint: 'v1:abc',
    why: 'customer is empty',
    ...rest,
  };
}

export async function bury(subscription: Subscription, delivery: Delivery, deadAt: number): Promise<void> {
  await subscription.settle([{ delivery, verb: 'deadLetter', evidence: evidenceFor(delivery, deadAt) }]);
}
