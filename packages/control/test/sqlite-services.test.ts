import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lazaret, realSystem } from 'lazaret';
import { openSqlite, type SqliteBroker } from 'lazaret/sqlite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { breakerAutomatic } from '../src/operations/breaker-automatic.ts';
import { breakerOpen } from '../src/operations/breaker-hold.ts';
import { breakerShow } from '../src/operations/breaker-show.ts';
import { queuesPause } from '../src/operations/queues-pause.ts';
import { queuesResume } from '../src/operations/queues-resume.ts';
import type { Services } from '../src/operations/services.ts';
import { existingFile, sqliteServices } from '../src/sqlite-services.ts';
import { EVIDENCE } from './fake-services.ts';

let folder = '';
let broker: SqliteBroker;
let services: Services;

/** 250 orders, of which every tenth crashed, and an image; all of them letters. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lazaret-test-'));
  broker = await openSqlite({ file: join(folder, 'a.db'), system: realSystem });
  services = sqliteServices(broker, { progress: () => {}, person: 'mira', now: realSystem.now });
  const ids = Array.from({ length: 250 }, (_, at) => `order-${String(at).padStart(3, '0')}`);
  await bury('orders', ids, (at) => (at % 10 === 0 ? 'crash' : 'poison'));
  await bury('images', ['img-1'], () => 'poison');
});

afterAll(async () => {
  await broker.close();
  rmSync(folder, { recursive: true });
});

async function bury(queue: string, ids: readonly string[], reasonOf: (at: number) => 'crash' | 'poison') {
  await broker.publish(
    queue,
    ids.map((id) => ({ id, key: 'k', body: Buffer.from(id) })),
  );
  const subscription = await broker.subscribe(queue, {
    prefetch: 500,
    leaseMs: 60_000,
    waitMs: 0,
    order: 'none',
    maxAttempts: 4,
    lost() {},
    suspects() {},
  });
  const deliveries = await subscription.pull(500, new AbortController().signal);
  await subscription.settle(
    deliveries.map((delivery, at) => ({
      delivery,
      verb: 'deadLetter',
      evidence: { ...EVIDENCE, queue, reason: reasonOf(at) },
    })),
  );
  await subscription.close();
}

describe('the services over a file', () => {
  it('know its queues', async () => {
    expect(await services.queues()).toMatchObject([
      { name: 'images', facts: { ready: 0, dead: 1 } },
      { name: 'orders', facts: { ready: 0, dead: 250 } },
    ]);
  });

  it('list letters by reason, page by page, without losing one', async () => {
    const seen: (string | undefined)[] = [];
    let after: string | undefined;
    do {
      const page = await services.letters.list({
        queue: 'orders',
        reason: 'crash',
        max: 60,
        ...(after === undefined ? {} : { after }),
      });
      seen.push(...page.items.map(({ message }) => message.id));
      after = page.next;
    } while (after !== undefined);
    expect(seen).toHaveLength(25);
    expect(new Set(seen).size).toBe(25);
  });

  it.each([
    ['a whole id', 'order-249', ['order-249']],
    ['an id that others begin with', 'img-1', ['img-1']],
    ['a beginning', 'order-24', ['order-240', 'order-241', 'order-242']],
    ['nothing', 'bill', []],
  ])('find %s', async (_, text, ids) => {
    const found = await services.letters.find(text, 3);
    expect(found.map(({ message }) => message.id).sort()).toEqual(ids);
  });

  it('release, and say who stays behind', async () => {
    const [first, last] = await Promise.all([
      services.letters.find('order-000', 1),
      services.letters.find('order-249', 1),
    ]);
    const results = await services.letters.release([last[0]!.id, '999999']);
    expect(results).toEqual([{ result: 'released', behind: first[0]!.id }, { result: 'unknown' }]);
    expect(await services.letters.find('order-249', 1)).toEqual([]);
    expect(await services.letters.show(last[0]!.id)).toMatchObject({ state: 'released' });
  });
});

describe('existingFile', () => {
  it('never creates one', async () => {
    const file = join(folder, 'nosuch.db');
    await expect(existingFile(file, true)).rejects.toMatchObject({
      code: 'LZ1306',
      message: expect.stringMatching(/Check the path/),
    });
    await expect(existingFile(file, false)).rejects.toMatchObject({
      message: expect.stringMatching(/Name yours with --db/),
    });
    expect(await existingFile(join(folder, 'a.db'), true)).toBe(join(folder, 'a.db'));
  });
});

describe('storm control of a file', () => {
  const why = 'INC-42';

  /** A consumer of a queue of its own, as another process would be. */
  async function consumer(queue: string) {
    const app = lazaret({ broker: `sqlite:${join(folder, 'a.db')}`, logger: false });
    const seen = { ran: 0 };
    app.consume(queue, () => void seen.ran++);
    await app.start();
    return { app, seen };
  }

  it('is set by an operator, followed by a consumer, and told by it', { timeout: 20_000 }, async () => {
    const { app, seen } = await consumer('parcels');
    const paused = await queuesPause.run(services, { queue: 'parcels', why, for: '1h' });
    expect(paused).toMatchObject({ by: 'mira', why });
    await vi.waitFor(() => expect(app.health().queues.parcels?.storm.pause.state).toBe('open'), 3_000);
    await app.send('parcels', 1);
    await vi.waitFor(async () => {
      expect(await breakerShow.run(services, { queue: 'parcels' })).toMatchObject({
        queues: [
          {
            processes: 1,
            breakers: [{ of: 'queue', state: 'open', by: 'mira', why }, { of: 'rest' }],
            changes: [{ what: 'paused', byHand: true, why: 'by hand: INC-42 (mira)' }],
          },
        ],
      });
    }, 8_000);
    expect(seen.ran).toBe(0);
    await queuesResume.run(services, { queue: 'parcels', why: 'mended' });
    await vi.waitFor(() => expect(seen.ran).toBe(1), 3_000);
    await app.stop();
    expect(await breakerShow.run(services, { queue: 'parcels' })).toMatchObject({
      queues: [{ processes: 0, orders: [] }],
    });
  });

  it('lets a breaker live by itself again, and leaves the others as they are', async () => {
    const { app } = await consumer('letters');
    await app.stop();
    const queue = 'letters';
    await breakerOpen.run(services, { queue, why, for: '1h', dependency: 'payments' });
    await breakerOpen.run(services, { queue, why, for: '1h' });
    const set = async () =>
      (await breakerShow.run(services, { queue })).queues[0]?.orders.map((order) => order.dependency);
    expect(await set()).toEqual(['payments', undefined]);
    await breakerAutomatic.run(services, { queue, why, dependency: 'payments' });
    expect(await set()).toEqual([undefined]);
  });
});
