import type { Broker, Handler, Message } from 'lazaret';
import { Poison, Transient } from 'lazaret';
import { memory } from 'lazaret/memory';
import { ManualSystem } from 'lazaret/testing';
import { describe, expect, it } from 'vitest';
import { type RunSetup, run } from '../../src/run/run.ts';

const LOGGER = { debug() {}, info() {}, warn() {}, error() {} };

async function* chunksOf(texts: Iterable<string>) {
  for (const text of texts) yield Buffer.from(text);
}

interface Change extends Partial<Omit<RunSetup, 'chunks'>> {
  readonly lines?: readonly string[];
  readonly chunks?: Iterable<string>;
}

/** Runs lines through a handler in a world whose time is moved by hand. */
async function world() {
  const system = new ManualSystem();
  const driver = memory();
  const broker = await driver.connect(system);
  return {
    system,
    broker,
    async run(handler: Handler, { lines = [], chunks, ...change }: Change = {}) {
      const running = run({
        input: 'orders.ndjson',
        chunks: chunksOf(chunks ?? lines.map((line) => `${line}\n`)),
        queue: 'orders',
        handler,
        options: { jitter: 'none' },
        broker,
        remembers: false,
        system,
        logger: LOGGER,
        stop: new AbortController().signal,
        progress() {},
        ...change,
      });
      let over = false;
      running.then(() => (over = true)).catch(() => (over = true));
      for (let tick = 0; tick < 3_000 && !over; tick++) await system.advance(100);
      return running;
    },
  };
}

const ORDERS = ['{"id":1}', '{"id":2}', '{"id":3}'];

describe('run', () => {
  it('calls the handler with each line, and accounts for all of them', async () => {
    const seen: Message['id'][] = [];
    const { summary } = await (await world()).run((message) => void seen.push(message.id), {
      lines: ['{"id":1}', '', '{"id":2}'],
    });
    expect(seen).toEqual(['orders.ndjson:1', 'orders.ndjson:3']);
    expect(summary).toMatchObject({
      lines: 2,
      empty: 1,
      done: 2,
      quarantined: 0,
      known: 0,
      waiting: 0,
      complete: true,
      accounted: true,
    });
  });

  it('groups what is quarantined by cause', async () => {
    const { summary } = await (await world()).run(
      (message) => {
        if ((message.json() as { id: number }).id > 1) throw new Poison('nobody sells that');
      },
      { lines: [...ORDERS, '{"id":4'] },
    );
    expect(summary).toMatchObject({ done: 1, quarantined: 3, open: 3, accounted: true });
    expect(summary.causes).toMatchObject([
      { reason: 'poison', count: 2, why: 'Poison: nobody sells that', example: 'orders.ndjson:2' },
      {
        reason: 'undecodable',
        count: 1,
        example: 'orders.ndjson:4',
        why: "DecodeError: line 4, column 8: ends where ',' or '}' is expected",
      },
    ]);
  });

  it('counts a line once that was retried more than once', async () => {
    const { summary } = await (await world()).run(
      (message, { attempt }) => {
        if (message.id === 'orders.ndjson:2' && attempt < 3) throw new Transient('away');
      },
      { lines: ORDERS },
    );
    expect(summary).toMatchObject({ done: 3, retried: 1, quarantined: 0 });
    expect(summary.ms).toBeGreaterThanOrEqual(10_000);
  });

  it('says how many the handler skipped', async () => {
    const { summary } = await (await world()).run((_, context) => context.skip('old'), { lines: ORDERS });
    expect(summary).toMatchObject({ done: 3, skipped: 3 });
  });

  it.each([
    [{ maxAttempts: 1 }, 0],
    [{ maxAttempts: 2, backoff: ['5s'], jitter: 'none' }, 5_000],
  ])('obeys %o', async (options, waitedMs) => {
    const handler = () => {
      throw new Error('no');
    };
    const { summary } = await (await world()).run(handler, {
      lines: ORDERS,
      options: options as never,
    });
    expect(summary).toMatchObject({ quarantined: 3, causes: [{ reason: 'exhausted' }] });
    expect(summary.ms).toBeGreaterThanOrEqual(waitedMs);
    expect(summary.ms).toBeLessThan(waitedMs + 2_000);
  });

  it('never lets more than some thousands wait in the queue', async () => {
    const { broker, run } = await world();
    const lines = Array.from({ length: 20_000 }, (_, at) => `{"id":${at}}`);
    let most = 0;
    const { summary } = await run(
      async () => {
        const { ready = 0, leased = 0 } = await broker.inspect('orders');
        most = Math.max(most, ready + leased);
      },
      { lines },
    );
    expect(summary).toMatchObject({ lines: 20_000, done: 20_000, accounted: true });
    expect(most).toBeGreaterThan(1_000);
    expect(most).toBeLessThan(3_000);
  });

  it('does not send a line again that an earlier run sent', async () => {
    const { run } = await world();
    const seen: unknown[] = [];
    const handler: Handler = (message) => void seen.push(message.id);
    await run(handler, { lines: ORDERS.slice(0, 2), remembers: true });
    const { summary } = await run(handler, { lines: ORDERS, remembers: true });
    expect(seen).toEqual(['orders.ndjson:1', 'orders.ndjson:2', 'orders.ndjson:3']);
    expect(summary).toMatchObject({ lines: 3, done: 1, known: 2, accounted: true });
  });

  it('sends it again where nothing is remembered, or where it was corrected', async () => {
    const { run } = await world();
    let calls = 0;
    const handler: Handler = () => void calls++;
    await run(handler, { lines: ORDERS });
    await run(handler, { lines: ORDERS });
    expect(calls).toBe(6);
    await run(handler, { lines: ORDERS, remembers: true });
    await run(handler, { lines: ['{"id":1}', '{"id":2,"corrected":true}', '{"id":3}'], remembers: true });
    expect(calls).toBe(10);
  });

  it('gets through a long input that is known already', async () => {
    const { run } = await world();
    const lines = Array.from({ length: 5_000 }, (_, at) => `{"id":${at}}`);
    await run(() => {}, { lines, remembers: true });
    const { summary } = await run(() => {}, { lines, remembers: true });
    expect(summary).toMatchObject({ known: 5_000, done: 0, accounted: true });
  });

  it('refuses a queue of a lasting file in which messages of others lie, and takes none of them', async () => {
    const { broker, run } = await world();
    await broker.publish('orders', [{ id: 'evt-1', body: Buffer.from('{}') }]);
    let calls = 0;
    const running = run(() => void calls++, { lines: ORDERS, remembers: true });
    await expect(running).rejects.toMatchObject({ code: 'LZ1307' });
    expect(calls).toBe(0);
    expect(await broker.inspect('orders')).toMatchObject({ ready: 1 });
  });

  it('counts apart what lay in the queue before, and leaves it as it is', async () => {
    const { broker, run } = await world();
    await broker.publish('orders', [
      { id: 'evt-1', body: Buffer.from('no JSON') },
      { id: 'orders.ndjson:999', body: Buffer.from('1') },
    ]);
    const seen: unknown[] = [];
    const { summary } = await run((message) => void seen.push(Buffer.from(message.body!).toString()), {
      lines: ORDERS,
    });
    expect(seen).toContain('no JSON');
    expect(summary).toMatchObject({ lines: 3, done: 3, others: 2, quarantined: 0, accounted: true });
  });

  it('stops when it is told to, and says what is where', async () => {
    const { run } = await world();
    const controller = new AbortController();
    let calls = 0;
    const { summary } = await run(
      () => {
        if (++calls === 10) controller.abort();
      },
      {
        lines: Array.from({ length: 100 }, (_, at) => `{"id":${at}}`),
        stop: controller.signal,
        options: { concurrency: 1 },
      },
    );
    expect(summary).toMatchObject({ complete: false, accounted: false, quarantined: 0, known: 0 });
    expect(summary.done).toBeGreaterThanOrEqual(10);
    expect(summary.waiting).toBeGreaterThan(0);
    expect(summary.done + summary.waiting + summary.unsent).toBe(summary.lines);
  });

  it('says what is where when the input breaks off', async () => {
    function* breaking() {
      yield '{"id":1}\n{"id":2}\n{"id"';
      throw new Error('EIO');
    }
    const { summary, problem } = await (await world()).run(() => {}, { chunks: breaking() });
    expect(problem).toMatchObject({ message: 'EIO' });
    expect(summary).toMatchObject({ lines: 2, unsent: 0, complete: false, accounted: false });
    expect(summary.done + summary.waiting).toBe(2);
  });

  it('ends where the broker takes no more', async () => {
    const { broker, run } = await world();
    const full: Broker = {
      ...{ name: 'full', close: async () => {} },
      subscribe: (queue, options) => broker.subscribe(queue, options),
      capabilities: (queue) => broker.capabilities(queue),
      inspect: (queue) => broker.inspect(queue),
      provision: (queue, wanted) => broker.provision(queue, wanted),
      publish: async (_, messages) => messages.map(() => new Error('the disk is full')),
    };
    const { summary, problem } = await run(() => {}, { lines: ORDERS, broker: full });
    expect(problem).toMatchObject({ message: 'the disk is full' });
    expect(summary).toMatchObject({ lines: 1, unsent: 1, done: 0, accounted: false });
  });

  it('tells how far it is', async () => {
    const heard: [number, number][] = [];
    await (await world()).run(() => {}, {
      lines: ORDERS,
      progress: (bytesRead, underWay) => void heard.push([bytesRead, underWay]),
    });
    expect(heard.at(-1)?.[0]).toBe(27);
  });
});
