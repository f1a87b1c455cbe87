import { afterEach, describe, expect, it } from 'vitest';
import { messageOfEntry } from '../../src/drivers/redis/entry.ts';
import { openRedis } from '../../src/drivers/redis/index.ts';
import { keysOf, listOf } from '../../src/drivers/redis/keys.ts';
import type { SubscribeOptions } from '../../src/ports/broker.ts';
import { realSystem } from '../../src/system.ts';
import { deleteQueues, freshQueue, onRedis, plainly } from './redis/server.ts';

const fields = (...pairs: readonly (readonly [string, string | Buffer])[]) =>
  pairs.flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value)]);

describe('an entry of another producer', () => {
  it.each([
    ['its only field is the body', fields(['order', '{"n":1}']), '{"n":1}', []],
    ['`body` is the body, and the others are headers', fields(['trace', 't'], ['body', 'b']), 'b', [['trace', 't']]],
    ['`Data` will do as well', fields(['a', '1'], ['Data', 'b']), 'b', [['a', '1']]],
    ['`body` goes before `data`', fields(['data', 'd'], ['body', 'b']), 'b', [['data', 'd']]],
    [
      'without any it is all of it',
      fields(['a', '1'], ['__proto__', 'x']),
      '{"a":"1","__proto__":"x"}',
      [
        ['a', '1'],
        ['__proto__', 'x'],
      ],
    ],
    [
      'bytes that are no text stay bytes',
      fields(['body', 'b'], ['h', Buffer.of(0xff)]),
      'b',
      [['h', new Uint8Array([0xff])]],
    ],
    [
      'a name twice is two headers',
      fields(['body', 'b'], ['h', '1'], ['h', '2']),
      'b',
      [
        ['h', '1'],
        ['h', '2'],
      ],
    ],
  ])('is read so: %s', (_, entry, body, headers) => {
    const message = messageOfEntry('1700000000000-0', entry);
    expect(Buffer.from(message.body!).toString()).toBe(body);
    expect(message.headers).toEqual(headers);
    expect(message.id).toBe('1700000000000-0');
  });

  it('may say its id and its key', () => {
    const entry = fields(['body', 'b'], ['lazaret-id', 'evt-1'], ['lazaret-key', 'k']);
    expect(messageOfEntry('1-0', entry)).toMatchObject({ id: 'evt-1', key: 'k' });
  });
});

describe('the keys of a queue', () => {
  it.each([
    ['orders', undefined, '{orders}'],
    ['{shop}orders', undefined, '{shop}orders'],
    ['{}orders', undefined, '{{}orders}'],
  ])('share a slot: %s', (queue, group, tag) => {
    const [stream, ...others] = listOf(keysOf(queue, group, undefined));
    expect(stream).toBe(queue);
    for (const key of others) expect(key.startsWith(tag)).toBe(true);
  });

  it('of two groups are their own, but for what is not sent yet', () => {
    const [one, other] = [keysOf('q', 'one', undefined), keysOf('q', 'other', undefined)];
    for (const name of ['leases', 'waiting', 'suspects', 'counts', 'dead'] as const)
      expect(one[name]).not.toBe(other[name]);
    expect(one.delayed).toBe(other.delayed);
  });
});

await onRedis('entries', (url) => {
  const OPTIONS: SubscribeOptions = {
    prefetch: 10,
    leaseMs: 5_000,
    waitMs: 200,
    order: 'none',
    maxAttempts: 4,
    lost() {},
    suspects() {},
  };
  const NO_SIGNAL = new AbortController().signal;
  const made: string[] = [];
  afterEach(() => deleteQueues(url, made.splice(0)));

  const opened = async () => {
    const queue = freshQueue();
    made.push(queue);
    return { queue, broker: await openRedis({ url, system: realSystem }) };
  };

  describe('a stream that is there already', () => {
    it('is consumed from its first entry on, retried, and emptied', async () => {
      const { queue, broker } = await opened();
      await plainly(url, (client) => client.xadd(queue, '*', 'payload', '{"n":1}', 'trace', 't-1'));
      const subscription = await broker.subscribe(queue, OPTIONS);
      const [first] = await subscription.pull(5, NO_SIGNAL);
      expect(first).toMatchObject({ attempt: 1, strikes: 0, message: { headers: [['trace', 't-1']] } });
      expect(await subscription.settle([{ delivery: first!, verb: 'retry', delayMs: 10 }])).toEqual(['done']);
      const [second] = await subscription.pull(5, NO_SIGNAL);
      expect(second).toMatchObject({ attempt: 2, message: { id: first!.message.id } });
      expect(await subscription.settle([{ delivery: second!, verb: 'ack' }])).toEqual(['done']);
      expect(await plainly(url, (client) => client.xlen(queue))).toBe(0);
      await broker.close();
    });

    it('is not emptied for the groups of others', async () => {
      const { queue, broker } = await opened();
      await plainly(url, async (client) => {
        await client.xadd(queue, '*', 'body', 'b');
        await client.xgroup('CREATE', queue, 'theirs', '0');
      });
      const subscription = await broker.subscribe(queue, OPTIONS);
      const [delivery] = await subscription.pull(5, NO_SIGNAL);
      await subscription.settle([{ delivery: delivery!, verb: 'ack' }]);
      expect(await plainly(url, (client) => client.xlen(queue))).toBe(1);
      await broker.close();
    });

    it('is heard at once, whoever adds to it', async () => {
      const { queue, broker } = await opened();
      const subscription = await broker.subscribe(queue, { ...OPTIONS, waitMs: 10_000 });
      const pull = subscription.pull(5, NO_SIGNAL);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const from = performance.now();
      await plainly(url, (client) => client.xadd(queue, '*', 'body', 'b'));
      expect(await pull).toHaveLength(1);
      expect(performance.now() - from).toBeLessThan(500);
      await broker.close();
    });

    it('survives that somebody deletes what is in hand or waits', async () => {
      const { queue, broker } = await opened();
      await broker.publish(queue, [
        { id: 'gone', body: null },
        { id: 'stays', body: null },
      ]);
      const subscription = await broker.subscribe(queue, OPTIONS);
      const [gone, stays] = await subscription.pull(5, NO_SIGNAL);
      await subscription.settle([{ delivery: gone!, verb: 'retry', delayMs: 1 }]);
      const { id } = gone!.receipt as { id: string };
      await plainly(url, (client) => client.xdel(queue, id));
      expect(await subscription.pull(5, NO_SIGNAL)).toEqual([]);
      expect(await subscription.settle([{ delivery: stays!, verb: 'ack' }])).toEqual(['done']);
      expect(await broker.inspect(queue)).toEqual({ ready: 0, delayed: 0, leased: 0, dead: 0 });
      await broker.close();
    });
  });
});
