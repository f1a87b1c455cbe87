import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openRedis, type RedisClient, type RedisOptions } from '../../src/drivers/redis/index.ts';
import { readOptions } from '../../src/drivers/redis/options.ts';
import type { SubscribeOptions } from '../../src/ports/broker.ts';
import { realSystem } from '../../src/system.ts';
import { detourTo, through } from './detour.ts';
import { deleteQueues, freshQueue, onRedis, plainly } from './redis/server.ts';

const OPTIONS: SubscribeOptions = {
  prefetch: 10,
  leaseMs: 2_000,
  waitMs: 100,
  order: 'none',
  maxAttempts: 4,
  lost() {},
  suspects() {},
};
const NO_SIGNAL = new AbortController().signal;

describe('options of the Redis driver', () => {
  const url = 'redis://localhost';

  it.each([
    [{}, 'LZ1002'],
    [{ url: 'http://localhost' }, 'LZ1002'],
    [{ url: 7 }, 'LZ1002'],
    [{ client: {} }, 'LZ1002'],
    [{ url, client: { callBuffer() {}, duplicate() {} } }, 'LZ1004'],
    [{ url, uri: 'x' }, 'LZ1001'],
    [{ url: `${url}?provison=never` }, 'LZ1001'],
    [{ url, provision: 'some' }, 'LZ1003'],
    [{ url, answerTimeout: '0s' }, 'LZ1003'],
    [{ url, dedupeWindow: 5 }, 'LZ1042'],
  ])('refuse %j with %s', (options, code) => {
    expect(() => readOptions(options as unknown as RedisOptions)).toThrow(expect.objectContaining({ code }));
  });

  it('are read from the address, and name the place without its password', () => {
    const settings = readOptions({ url: 'rediss://user:secret@cache.example:6390/2?provision=never&answerTimeout=3s' });
    expect(settings).toMatchObject({ provision: 'never', answerTimeoutMs: 3_000, place: 'cache.example:6390' });
    expect(settings.url).toBe('rediss://user:secret@cache.example:6390/2');
  });
});

await onRedis('refusals', (url) => {
  const servers: Server[] = [];
  const made: string[] = [];
  const queue = () => {
    const name = freshQueue();
    made.push(name);
    return name;
  };
  const refusal = async (options: RedisOptions) => {
    const startedAt = performance.now();
    const error = await openRedis({ ...options, system: realSystem }).then(
      (broker) => broker.close().then(() => undefined),
      (thrown: unknown) => thrown as { code: string; message: string },
    );
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    return error;
  };
  const listening = async (answer: (socket: Socket) => void): Promise<string> => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      answer(socket);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  /** Answers every command with `line`. */
  const answering = (line: string) =>
    listening((socket) => {
      socket.on('data', (bytes) => socket.write(`${line}\r\n`.repeat(bytes.toString().match(/^\*/gm)?.length ?? 0)));
    });

  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    await deleteQueues(url, made.splice(0));
  });

  describe('what Redis refuses', () => {
    it.each([
      ['nobody listens', async () => 'redis://127.0.0.1:1', 'LZ1130'],
      ['something else listens', () => listening((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')), 'LZ1130'],
      ['it never answers', () => listening(() => undefined), 'LZ1130'],
      ['a login is asked for', () => answering('-NOAUTH Authentication required.'), 'LZ1131'],
      ['the password is wrong', () => answering('-WRONGPASS invalid username-password pair'), 'LZ1131'],
      ['the user may not', () => answering("-NOPERM this user has no permissions to run the 'info' command"), 'LZ1132'],
      ['it loads its data', () => answering('-LOADING Redis is loading the dataset in memory'), 'LZ1130'],
    ])('is told as one error: %s', async (_, address, code) => {
      expect(await refusal({ url: await address(), connectTimeout: '500ms', answerTimeout: '500ms' })).toMatchObject({
        code,
      });
    });

    it('is told as one error: a server that is too old', async () => {
      const old = await answering('$21\r\nredis_version:5.0.14\r');
      expect(await refusal({ url: old })).toMatchObject({ code: 'LZ1132' });
    });

    it('is told as one error: a stream that is not there, and may not be made', async () => {
      const broker = await openRedis({ url, provision: 'never', system: realSystem });
      const name = queue();
      await expect(broker.subscribe(name, OPTIONS)).rejects.toMatchObject({ code: 'LZ1302' });
      expect(await broker.publish(name, [{ body: null }])).toEqual(['unroutable']);
      await broker.close();
    });

    it('is told as one error: something else has the name', async () => {
      const broker = await openRedis({ url, system: realSystem });
      const name = queue();
      await plainly(url, (client) => client.set(name, 'text'));
      await expect(broker.subscribe(name, OPTIONS)).rejects.toMatchObject({ code: 'LZ1132' });
      expect(await broker.publish(name, [{ body: null }])).toEqual([expect.objectContaining({ code: 'LZ1132' })]);
      await broker.close();
    });

    it('names what a caller may do instead of order by key', async () => {
      const broker = await openRedis({ url, system: realSystem });
      await expect(broker.subscribe(queue(), { ...OPTIONS, order: 'key' })).rejects.toMatchObject({ code: 'LZ1051' });
      await broker.close();
      await expect(broker.subscribe(queue(), OPTIONS)).rejects.toMatchObject({ code: 'LZ1102' });
    });
  });

  describe('a server that changes under a consumer', () => {
    it('is given its scripts again, and its stream and group', async () => {
      const broker = await openRedis({ url, system: realSystem });
      const name = queue();
      const subscription = await broker.subscribe(name, OPTIONS);
      expect(await subscription.pull(1, NO_SIGNAL)).toEqual([]);
      await plainly(url, async (client) => {
        await client.script('FLUSH');
        await client.del(name);
      });
      expect(await broker.publish(name, [{ id: 'after', body: null }])).toEqual(['done']);
      const [delivery] = await subscription.pull(1, NO_SIGNAL);
      expect(delivery?.message.id).toBe('after');
      expect(await subscription.settle([{ delivery: delivery!, verb: 'ack' }])).toEqual(['done']);
      await broker.close();
    });

    it('is come back to when its connections were cut', async () => {
      const detour = await detourTo(url);
      const broker = await openRedis({ url: through(detour, url), system: realSystem });
      const name = queue();
      const subscription = await broker.subscribe(name, OPTIONS);
      detour.cut();
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await broker.publish(name, [{ id: 'after', body: null }])).toEqual(['done']);
      expect((await subscription.pull(1, NO_SIGNAL)).map(({ message }) => message.id)).toEqual(['after']);
      await broker.close();
      await detour.block();
    });

    it('says that it does not know, where the answer to a publish was lost', async () => {
      const detour = await detourTo(url);
      const broker = await openRedis({ url: through(detour, url), system: realSystem });
      detour.deafen(true);
      const publishing = broker.publish(queue(), [{ id: 'lost', body: null }]);
      await new Promise((resolve) => setTimeout(resolve, 100));
      detour.cut();
      expect(await publishing).toEqual(['unknown']);
      await broker.close();
      await detour.block();
    });
  });

  describe('a client of yours', () => {
    it('is used, and not closed', async () => {
      await plainly(url, async (client) => {
        const broker = await openRedis({ client: client as unknown as RedisClient, system: realSystem });
        const name = queue();
        expect(await broker.publish(name, [{ id: 'a', body: null }])).toEqual(['done']);
        const subscription = await broker.subscribe(name, OPTIONS);
        expect(await subscription.pull(1, NO_SIGNAL)).toHaveLength(1);
        await broker.close();
        expect(await client.ping()).toBe('PONG');
      });
    });
  });

  it('says what its server may lose', async () => {
    const broker = await openRedis({ url, system: realSystem });
    expect(broker.describe()).toMatchObject({ evictionPolicy: 'noeviction', warnings: [] });
    await broker.close();
  });
});
