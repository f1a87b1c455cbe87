import { describe, expect, it } from 'vitest';
import { lazaret } from '../../src/index.ts';
import type { Broker, End, Journal, Settlement, StoreDriver, Subscription } from '../../src/ports/index.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { Deferred, over, scene } from './scene.ts';

/** Counts hand-outs only, as SQS does. */
const COUNTING = { shape: 'table', ghostPolls: true } as const;
const OPTIONS = { visibilityTimeout: '20s', heartbeat: '5s', jitter: 'none', storm: false } as const;

/** `change` is applied to every journal that `store` gives. */
function journalling(store: StoreDriver, change: (journal: Journal) => Partial<Journal>): StoreDriver {
  return {
    name: store.name,
    async connect(system) {
      const connected = await store.connect(system);
      return over(connected, {
        journal: (owner, group) => {
          const journal = connected.journal(owner, group);
          return over(journal, change(journal));
        },
      });
    },
  };
}

function subscribing(broker: Broker, change: (subscription: Subscription) => Partial<Subscription>): Broker {
  return over(broker, {
    subscribe: async (queue, options) => {
      const subscription = await broker.subscribe(queue, options);
      return over(subscription, change(subscription));
    },
  });
}

/** A process that is killed while `id` runs in it, `times` in a row. */
async function killed(stage: ReturnType<typeof scene>, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const victim = stage.process('1s');
    const running = new Deferred();
    victim.app.consume('orders', OPTIONS, () => {
      running.resolve();
      return new Promise(() => {});
    });
    await victim.app.start();
    await stage.system.advance(60_000);
    await running.promise;
    victim.kill();
    await stage.system.advance(25_000);
  }
}

describe('a broker that counts hand-outs only, with a journal', () => {
  it('charges failures alone: starts that others lost spend no attempt', async () => {
    const stage = scene(COUNTING, memoryStore());
    await stage.process().app.send('orders', 1, { id: 'unlucky' });
    await killed(stage, 1);
    const { app } = stage.process('1s');
    const seen: [number, number][] = [];
    app.consume('orders', OPTIONS, (_, { attempt, strikes }) => {
      seen.push([attempt, strikes]);
      if (attempt < 4) throw new Error('not yet');
    });
    await app.start();
    await stage.system.advance(120_000);
    expect(seen).toEqual([
      [1, 1],
      [2, 0],
      [3, 0],
      [4, 0],
    ]);
    expect(stage.of('done')).toMatchObject([{ id: 'unlucky', attempt: 4 }]);
    await stage.run(app.stop(), 10_000);
  });

  it.each([
    [{}, ['crash']],
    [{ journal: false }, ['exhausted']],
  ])('with %j convicts what kills its process of %j', async (journal, reasons) => {
    const stage = scene(COUNTING, memoryStore());
    await stage.process().app.send('orders', 1, { id: 'killer' });
    for (let n = 0; n < 8 && stage.of('quarantined').length === 0; n++) {
      const one = stage.process('1s');
      let victim = false;
      one.app.consume('orders', { ...OPTIONS, ...journal }, (_, { attempt }) => {
        if (attempt >= 4) throw new Error('no');
        victim = true;
        return new Promise(() => {});
      });
      await one.app.start();
      await stage.system.advance(90_000);
      if (victim) one.kill();
      else await stage.run(one.app.stop({ within: '1s' }), 1_000);
      await stage.system.advance(25_000);
    }
    expect(stage.of('quarantined').map(({ reason }) => reason)).toEqual(reasons);
    expect(stage.of('running-alone').length).toBe(reasons[0] === 'crash' ? 2 : 0);
  });

  it('leaves no strike behind a clean stop, whatever handlers did', async () => {
    const stage = scene(COUNTING, memoryStore());
    await stage.process().app.send('orders', 1, { id: 'm' });
    const first = stage.process('1s');
    first.app.consume('orders', OPTIONS, () => new Promise(() => {}));
    await first.app.start();
    await stage.system.advance(1_000);
    await stage.run(first.app.stop({ within: '1s' }), 2_000);
    const next = stage.process('1s');
    const seen: number[] = [];
    next.app.consume('orders', OPTIONS, (_, { strikes }) => void seen.push(strikes));
    await next.app.start();
    await stage.system.advance(5_000);
    expect(seen).toEqual([0]);
    await stage.run(next.app.stop(), 10_000);
  });

  it('acks a leftover unrun: its end was written before an ack that got lost', async () => {
    const stage = scene(COUNTING, memoryStore());
    const { system, of } = stage;
    let acks = 0;
    const { app } = stage.process('1s', (broker) =>
      subscribing(broker, (subscription) => ({
        settle: async (batch) => {
          if (batch.some(({ verb }) => verb === 'ack') && acks++ === 0) return batch.map(() => 'lost' as const);
          return subscription.settle(batch);
        },
      })),
    );
    let runs = 0;
    app.consume('orders', OPTIONS, () => void runs++);
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await system.advance(60_000);
    expect(runs).toBe(1);
    expect(of('done')).toMatchObject([{ id: 'm', skipped: 'it was settled before' }]);
    expect(await app.health().queues.orders!.running).toBe(0);
    await stage.run(app.stop(), 10_000);
  });

  it('says ends in batches: acks before they are settled, letters after they are confirmed', async () => {
    const said: string[] = [];
    const store = journalling(memoryStore(), (journal) => ({
      end: (ends: readonly End[]) => {
        said.push(`end ${ends.map(({ as }) => as).join(' ')}`);
        return journal.end(ends);
      },
    }));
    const stage = scene(COUNTING, store);
    const { app } = stage.process('1s', (broker) =>
      subscribing(broker, (subscription) => ({
        settle: async (batch: readonly Settlement[]) => {
          const results = await subscription.settle(batch);
          said.push(`settled ${batch.map(({ verb }) => verb).join(' ')}`);
          return results;
        },
      })),
    );
    for (let n = 0; n < 3; n++) await app.send('orders', 'good', { id: `good-${n}` });
    await app.send('orders', 'bad', { id: 'bad' });
    app.consume('orders', OPTIONS, (message, ctx) => {
      if (message.json() === 'bad') ctx.quarantine('bad');
    });
    await app.start();
    await stage.system.advance(1_000);
    expect(said).toEqual(['end acked acked acked', 'settled ack ack ack deadLetter', 'end dead-lettered']);
    await stage.run(app.stop(), 10_000);
  });

  it('starts nothing while the journal is away, loses nothing, and goes on when it is back', async () => {
    let away = true;
    const store = journalling(memoryStore(), (journal) => ({
      begin: async (starts) => {
        if (away) throw new Error('the disk is full');
        return journal.begin(starts);
      },
    }));
    const stage = scene(COUNTING, store);
    const { app } = stage.process('1s');
    let runs = 0;
    app.consume('orders', OPTIONS, () => void runs++);
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await stage.system.advance(30_000);
    expect(runs).toBe(0);
    expect(stage.of('trouble')[0]).toMatchObject({ verb: 'begin', error: { message: 'the disk is full' } });
    expect(stage.of('released')[0]).toMatchObject({ id: 'm', why: 'the journal did not answer' });
    away = false;
    await stage.system.advance(5_000);
    expect(stage.of('done')).toMatchObject([{ id: 'm', attempt: 1 }]);
    await stage.run(app.stop(), 10_000);
  });

  it('waits for a journal that hangs no longer than it must, and takes back what began too late', async () => {
    const late = new Deferred();
    let hangs = true;
    const store = journalling(memoryStore(), (journal) => ({
      begin: async (starts) => {
        const histories = await journal.begin(starts);
        if (hangs) await late.promise;
        return histories;
      },
    }));
    const stage = scene(COUNTING, store);
    const one = stage.process('1s');
    one.app.consume('orders', OPTIONS, () => {});
    await one.app.start();
    await one.app.send('orders', 1, { id: 'm' });
    await stage.system.advance(6_000);
    expect(stage.of('trouble')[0]).toMatchObject({ verb: 'begin', error: { code: 'LZ1121' } });
    expect(one.app.health().queues.orders).toMatchObject({ running: 0 });
    hangs = false;
    late.resolve();
    await stage.system.advance(5_000);
    expect(stage.of('done')).toMatchObject([{ id: 'm' }]);
    await stage.run(one.app.stop(), 10_000);
  });

  it('settles what has ended while the journal is away, and says the end when it is back', async () => {
    let away = true;
    const said: string[] = [];
    const store = journalling(memoryStore(), (journal) => ({
      end: async (ends) => {
        if (away) throw new Error('away');
        said.push(...ends.map(({ as }) => as));
        return journal.end(ends);
      },
    }));
    const stage = scene(COUNTING, store);
    const { app } = stage.process('1s');
    app.consume('orders', OPTIONS, () => {});
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await stage.system.advance(10_000);
    expect(stage.of('done')).toHaveLength(1);
    expect(stage.of('trouble')[0]).toMatchObject({ verb: 'end' });
    expect(said).toEqual([]);
    away = false;
    await stage.system.advance(15_000);
    expect(said).toEqual(['acked']);
    await stage.run(app.stop(), 10_000);
  });

  it('leaves what a living process has open to it, and runs it once', async () => {
    const stage = scene(COUNTING, memoryStore());
    const { system } = stage;
    const one = stage.process('1s');
    const slow = new Deferred();
    let runs = 0;
    const handler = () => {
      runs++;
      return slow.promise;
    };
    one.app.consume('orders', { ...OPTIONS, concurrency: 1 }, handler);
    await one.app.start();
    await one.app.send('orders', 1, { id: 'twice' });
    await system.advance(100);
    const other = stage.process('1s');
    other.app.consume('orders', OPTIONS, handler);
    await other.app.start();
    await one.app.send('orders', 1, { id: 'twice' });
    await system.advance(10_000);
    expect(runs).toBe(1);
    expect(stage.of('released')[0]).toMatchObject({ why: 'a living owner has it open' });
    slow.resolve();
    await system.advance(10_000);
    // n.b. two messages of one id are two messages: neither is acked for the other.
    expect(runs).toBe(2);
    await stage.run(one.app.stop(), 10_000);
    await stage.run(other.app.stop(), 10_000);
  });

  it('keeps two messages of one id apart in one process as well', async () => {
    const stage = scene(COUNTING, memoryStore());
    const { app } = stage.process('1s');
    let most = 0;
    let running = 0;
    app.consume('orders', OPTIONS, async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => void stage.system.after(500, resolve));
      running--;
    });
    await app.send('orders', 1, { id: 'twin' });
    await app.send('orders', 1, { id: 'twin' });
    await app.start();
    await stage.system.advance(20_000);
    expect(most).toBe(1);
    expect(stage.of('done')).toHaveLength(2);
    await stage.run(app.stop(), 10_000);
  });

  it('opens another life for a letter that is put back', async () => {
    const stage = scene(COUNTING, memoryStore());
    const { app } = stage.process('1s');
    let broken = true;
    let runs = 0;
    app.consume('orders', { storm: false, maxAttempts: 1 }, () => {
      runs++;
      if (broken) throw new Error('no');
    });
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await stage.system.advance(5_000);
    expect(stage.of('quarantined')).toHaveLength(1);
    broken = false;
    const [letter] = stage.server.letters('orders');
    const broker = stage.server.connect();
    await broker.publish('orders', [{ ...letter!.message, id: 'm' }]);
    await stage.system.advance(5_000);
    expect(runs).toBe(2);
    expect(stage.of('done')).toMatchObject([{ id: 'm', attempt: 1 }]);
    await stage.run(app.stop(), 10_000);
  });
});

describe('a journal is not asked', () => {
  const refusing = (asked: unknown[]) =>
    journalling(memoryStore(), () => ({
      begin: async (starts) => {
        asked.push(...starts);
        throw new Error('not to be asked');
      },
    }));

  it.each([
    ['by a table, whose rows remember', { shape: 'table' }],
    ['by a log, which has its own', { shape: 'log' }],
  ] as const)('%s', async (_, shape) => {
    const asked: unknown[] = [];
    const stage = scene(shape, refusing(asked));
    const { app } = stage.process('1s');
    app.consume('orders', OPTIONS, () => {});
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await stage.system.advance(2_000);
    expect(stage.of('done')).toHaveLength(1);
    expect(asked).toEqual([]);
    await stage.run(app.stop(), 10_000);
  });

  it('about a message without id, which runs all the same', async () => {
    const asked: unknown[] = [];
    const stage = scene({ shape: 'channel' }, refusing(asked));
    const { app } = stage.process('1s', (broker) =>
      subscribing(broker, (subscription) => ({
        pull: async (max, signal) =>
          (await subscription.pull(max, signal)).map(({ message: { id: _id, ...message }, ...delivery }) => ({
            ...delivery,
            message,
          })),
      })),
    );
    app.consume('orders', OPTIONS, () => {});
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await stage.system.advance(2_000);
    expect(stage.of('done')).toHaveLength(1);
    expect(asked).toEqual([]);
    await stage.run(app.stop(), 10_000);
  });
});

describe('a broker that retries by copy, with a journal', () => {
  it('acks the delivery unrun in whose place a copy stands', async () => {
    const stage = scene({ shape: 'channel' }, memoryStore());
    let lost = 0;
    const { app } = stage.process('1s', (broker) =>
      subscribing(broker, (subscription) => ({
        // The copy is there, and the ack of the delivery never arrives: it comes again.
        settle: async (batch) => {
          const retry = batch.find(({ verb }) => verb === 'retry');
          if (retry === undefined || lost++ > 0) return subscription.settle(batch);
          const { message } = retry.delivery;
          await broker.publish('orders', [
            {
              ...message,
              id: message.id!,
              headers: [...message.headers, ['lazaret-id', message.id!], ['lazaret-attempt', '2']],
            },
          ]);
          await subscription.settle([{ delivery: retry.delivery, verb: 'release', delayMs: 0 }]);
          return batch.map(() => 'done' as const);
        },
      })),
    );
    const attempts: number[] = [];
    app.consume('orders', { ...OPTIONS, backoff: ['0ms'] }, (_, { attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) throw new Error('not yet');
    });
    await app.start();
    await app.send('orders', 1, { id: 'm' });
    await stage.system.advance(30_000);
    expect(attempts).toEqual([1, 2]);
    await stage.run(app.stop(), 10_000);
  });

  it('makes crashes exact', async () => {
    const stage = scene({ shape: 'channel' }, memoryStore());
    await stage.process().app.send('orders', 1, { id: 'unlucky' });
    await killed(stage, 1);
    const { app } = stage.process('1s');
    const seen: number[] = [];
    app.consume('orders', OPTIONS, (_, { strikes }) => void seen.push(strikes));
    await app.start();
    await stage.system.advance(30_000);
    expect(seen).toEqual([1]);
    await stage.run(app.stop(), 10_000);
  });
});

describe('describe', () => {
  it.each([
    [COUNTING, true, {}, 'counting: exact (journal in'],
    [COUNTING, true, { journal: false }, 'counting: approximate'],
    [COUNTING, false, {}, 'counting: approximate'],
    [{ shape: 'channel' }, true, {}, 'counting: exact (journal in'],
    [{ shape: 'channel' }, false, {}, 'counting: attempts exact, crashes approximate'],
    [{ shape: 'log' }, true, {}, 'counting: exact (journal)'],
  ] as const)('of %j with a store: %s and %j says %s', async (shape, hasStore, options, sentence) => {
    const stage = scene(shape, hasStore ? memoryStore() : undefined);
    const { app } = stage.process('1s');
    app.consume('orders', options, () => {});
    expect(app.describe('orders')).not.toContain('counting');
    await app.start();
    expect(app.describe('orders')).toContain(sentence);
    await stage.run(app.stop(), 10_000);
  });

  it('says nothing of counting where rows remember exactly', async () => {
    const { app } = scene({ shape: 'table' }, memoryStore()).process('1s');
    app.consume('orders', () => {});
    await app.start();
    expect(app.describe('orders')).not.toContain('counting');
    await app.stop();
  });
});

describe('the store of an app', () => {
  it.each([
    ['redis://localhost', 'LZ1053'],
    [5, 'LZ1002'],
    [{}, 'LZ1002'],
  ])('%j is refused with %s', (store, code) => {
    expect(() => lazaret({ broker: 'memory:', store: store as never })).toThrow(expect.objectContaining({ code }));
  });

  it('that cannot be reached ends the start, which says why', async () => {
    const store: StoreDriver = {
      name: 'broken',
      connect: async () => {
        throw new Error('no such host');
      },
    };
    const { app } = scene(COUNTING, store).process();
    app.consume('orders', () => {});
    await expect(app.start()).rejects.toThrow('no such host');
  });

  it('is told that the process lives, and when it has gone', async () => {
    const told: number[] = [];
    const store = journalling(memoryStore(), (journal) => ({
      alive: (owner, leaseMs) => {
        told.push(leaseMs);
        return journal.alive(owner, leaseMs);
      },
    }));
    const stage = scene(COUNTING, store);
    const { app } = stage.process();
    app.consume('orders', () => {});
    await app.start();
    await stage.system.advance(10_000);
    const living = told.length;
    await stage.run(app.stop(), 6_000);
    const last = told.pop();
    await stage.system.advance(60_000);
    expect(living).toBe(3);
    expect(last).toBe(0);
    expect(told.every((leaseMs) => leaseMs === 15_000)).toBe(true);
  });
});
