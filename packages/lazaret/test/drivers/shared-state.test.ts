import { afterEach, describe, expect, it } from 'vitest';
import { memoryServer } from '../../src/drivers/memory/index.ts';
import { openPostgres } from '../../src/drivers/postgres/index.ts';
import { openRedis } from '../../src/drivers/redis/index.ts';
import type { Broker } from '../../src/ports/broker.ts';
import type { SharedState } from '../../src/ports/shared-state.ts';
import { realSystem } from '../../src/system.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';
import { freshSchema, onPostgres, plainly } from './postgres/server.ts';
import { onRedis, plainly as plainlyRedis } from './redis/server.ts';
import { Scene } from './sqlite-scene.ts';

interface Ground {
  readonly system: { advance(ms: number): Promise<unknown> };
  /** Another process on the same store. */
  connect(): Promise<Broker>;
  end(): Promise<void>;
}

function memoryGround(): Ground {
  const system = new ManualSystem();
  const server = memoryServer({ shape: 'table', system });
  return { system, connect: async () => server.connect(), end: async () => {} };
}

function sqliteGround(): Ground {
  const scene = new Scene();
  return { system: scene.system, connect: () => scene.broker(), end: () => scene.end() };
}

/** Its clock stands in a table, and moves when it is told to. */
function postgresGround(url: string): Ground {
  const schema = freshSchema();
  const open: Broker[] = [];
  const connect = async () => {
    const broker = await openPostgres({ url, schema, connections: 2, system: realSystem });
    open.push(broker);
    return broker;
  };
  const stopped = connect().then(async (broker) => {
    await plainly(url, `CREATE TABLE ${schema}.test_clock AS SELECT 1000000::bigint AS ms`);
    await plainly(
      url,
      `CREATE OR REPLACE FUNCTION ${schema}.clock_1() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT ms FROM ${schema}.test_clock'`,
    );
    return broker;
  });
  return {
    system: { advance: (ms) => plainly(url, `UPDATE ${schema}.test_clock SET ms = ms + ${ms}`) },
    connect: () => stopped.then(connect),
    end: async () => {
      await stopped;
      for (const broker of open) await broker.close();
      await plainly(url, `DROP SCHEMA ${schema} CASCADE`);
    },
  };
}

/** A database of the server that nobody else uses. Its clock cannot be moved, but what is left of a life can be shortened. */
function redisGround(url: string): Ground {
  const own = Object.assign(new URL(url), { pathname: '/7' }).toString();
  const open: Broker[] = [];
  const emptied = plainlyRedis(own, (client) => client.flushdb());
  return {
    system: {
      advance: (ms) =>
        plainlyRedis(own, async (client) => {
          for (const key of await client.keys('*')) await client.pexpire(key, (await client.pttl(key)) - ms);
        }),
    },
    connect: async () => {
      await emptied;
      const broker = await openRedis({ url: own, system: realSystem });
      open.push(broker);
      return broker;
    },
    end: async () => {
      for (const broker of open) await broker.close();
    },
  };
}

const ends: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const grounds: [name: string, ground: () => Ground][] = [
  ['memory', memoryGround],
  ['sqlite', sqliteGround],
];
await onRedis('what processes share', (url) => grounds.push(['Redis', () => redisGround(url)]));
await onPostgres('what processes share', (url) => grounds.push(['PostgreSQL', () => postgresGround(url)]));

describe.each(grounds)('what processes share in %s', (_, ground) => {
  const opened = async () => {
    const { system, connect, end } = ground();
    ends.push(end);
    const [one, other] = [await connect(), await connect()];
    return { system, connect, one: sharedOf(one), other: sharedOf(other) };
  };
  const textOf = async (shared: SharedState, key: string) => (await shared.get([key]))[0]?.value;

  it('is absent at version 0 until somebody writes it', async () => {
    const { one } = await opened();
    expect(await one.get(['a', 'b'])).toEqual([
      { version: 0, value: null },
      { version: 0, value: null },
    ]);
    expect(await one.get([])).toEqual([]);
  });

  it('is seen by every process, with a version', async () => {
    const { one, other } = await opened();
    expect(await one.compareAndSwap('a', 0, 'text', 1_000)).toBe(true);
    const [found] = await other.get(['a']);
    expect(found).toEqual({ version: expect.any(Number), value: 'text' });
    expect(found!.version).toBeGreaterThan(0);
    expect(await one.get(['a'])).toEqual([found]);
  });

  it('refuses who has not seen the newest', async () => {
    const { one, other } = await opened();
    await one.compareAndSwap('a', 0, 'first', 1_000);
    expect(await other.compareAndSwap('a', 0, 'second', 1_000)).toBe(false);
    const [{ version } = { version: 0 }] = await other.get(['a']);
    expect(await other.compareAndSwap('a', version, 'second', 1_000)).toBe(true);
    expect(await one.compareAndSwap('a', version, 'third', 1_000)).toBe(false);
    expect(await textOf(one, 'a')).toBe('second');
  });

  it('lets one of many win who write at the same moment', async () => {
    const { connect } = await opened();
    const all = await Promise.all(Array.from({ length: 8 }, async () => sharedOf(await connect())));
    const won = await Promise.all(all.map((shared, n) => shared.compareAndSwap('a', 0, `${n}`, 1_000)));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await textOf(all[0]!, 'a')).toBe(String(won.indexOf(true)));
  });

  it('loses no count of many who try again', async () => {
    const { connect, one } = await opened();
    const all = await Promise.all(Array.from({ length: 4 }, async () => sharedOf(await connect())));
    const countUp = async (shared: SharedState): Promise<void> => {
      const [{ version, value } = { version: 0, value: null }] = await shared.get(['n']);
      if (!(await shared.compareAndSwap('n', version, String(Number(value ?? 0) + 1), 60_000))) await countUp(shared);
    };
    await Promise.all(all.flatMap((shared) => Array.from({ length: 5 }, () => countUp(shared))));
    expect(await textOf(one, 'n')).toBe('20');
  });

  it('expires by the clock, as if it had never been there, and comes again with another version', async () => {
    const { system, one, other } = await opened();
    await one.compareAndSwap('a', 0, 'old', 1_000);
    const [old] = await one.get(['a']);
    await system.advance(900);
    expect(await textOf(other, 'a')).toBe('old');
    await system.advance(200);
    expect(await other.get(['a'])).toEqual([{ version: 0, value: null }]);
    expect(await one.compareAndSwap('a', old!.version, 'late', 1_000)).toBe(false);
    expect(await other.compareAndSwap('a', 0, 'new', 1_000)).toBe(true);
    expect((await one.get(['a']))[0]?.version).not.toBe(old!.version);
  });

  it('lives on from each write', async () => {
    const { system, one } = await opened();
    await one.compareAndSwap('a', 0, 'x', 1_000);
    await system.advance(900);
    await one.compareAndSwap('a', (await one.get(['a']))[0]!.version, 'y', 1_000);
    await system.advance(900);
    expect(await textOf(one, 'a')).toBe('y');
  });

  it('is deleted with null, by who has seen it only, and nobody who remembers it from before writes over what comes next', async () => {
    const { one, other } = await opened();
    await one.compareAndSwap('a', 0, 'x', 1_000);
    const [before] = await other.get(['a']);
    expect(await one.compareAndSwap('a', 0, null, 1_000)).toBe(false);
    expect(await one.compareAndSwap('a', before!.version, null, 1_000)).toBe(true);
    expect(await textOf(other, 'a')).toBeNull();
    expect(await one.compareAndSwap('a', 0, null, 1_000)).toBe(true);
    await one.compareAndSwap('a', 0, 'again', 1_000);
    expect(await other.compareAndSwap('a', before!.version, 'late', 1_000)).toBe(false);
    expect(await textOf(one, 'a')).toBe('again');
  });

  it.each(['__proto__', 'constructor', '', 'a\0b', 'ключ 🔑', 'x'.repeat(5_000)])(
    'takes any text as a key and as a value: %j',
    async (text) => {
      const { one, other } = await opened();
      expect(await one.get([text])).toEqual([{ version: 0, value: null }]);
      expect(await one.compareAndSwap(text, 0, text, 1_000)).toBe(true);
      expect(await textOf(other, text)).toBe(text);
      expect(await textOf(other, `${text}.`)).toBeNull();
    },
  );

  it('answers many keys in their order, also twice the same', async () => {
    const { one, other } = await opened();
    const keys = Array.from({ length: 300 }, (_, n) => `key-${n}`);
    await Promise.all(keys.map((key) => one.compareAndSwap(key, 0, `value of ${key}`, 1_000)));
    const asked = [...keys.toReversed(), 'key-7', 'nobody'];
    expect((await other.get(asked)).map(({ value }) => value)).toEqual([
      ...keys.toReversed().map((key) => `value of ${key}`),
      'value of key-7',
      null,
    ]);
  });

  it('rejects once it is closed', async () => {
    const { connect } = await opened();
    const broker = await connect();
    const shared = sharedOf(broker);
    await shared.compareAndSwap('a', 0, 'x', 1_000);
    await broker.close();
    await expect(shared.get(['a'])).rejects.toMatchObject({ code: 'LZ1102' });
    await expect(shared.compareAndSwap('a', 1, 'y', 1_000)).rejects.toMatchObject({ code: 'LZ1102' });
  });
});

describe('the table in a SQLite file', () => {
  it('is made by the first write and no sooner, and the schema stays the one that older versions read', async () => {
    const scene = new Scene();
    ends.push(() => scene.end());
    const broker = await scene.broker();
    const tables = async () => {
      const db = await scene.stranger();
      return [
        db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'lazaret_shared'").get(),
        db.prepare('PRAGMA user_version').get(),
      ];
    };
    await sharedOf(broker).get(['a']);
    const [absent, version] = await tables();
    expect(absent).toBeUndefined();
    await sharedOf(broker).compareAndSwap('a', 0, 'x', 1_000);
    expect(await tables()).toEqual([[1], version]);
  });

  it('outlives its processes, and forgets what has expired', async () => {
    const scene = new Scene();
    ends.push(() => scene.end());
    const broker = await scene.broker();
    await sharedOf(broker).compareAndSwap('brief', 0, 'x', 1_000);
    await sharedOf(broker).compareAndSwap('long', 0, 'y', 60_000);
    await broker.close();
    await scene.system.advance(2_000);
    const next = await scene.broker();
    await sharedOf(next).compareAndSwap('other', 0, 'z', 1_000);
    expect((await sharedOf(next).get(['brief', 'long'])).map(({ value }) => value)).toEqual([null, 'y']);
    const db = await scene.stranger();
    expect(db.prepare("SELECT count(*) FROM lazaret_shared WHERE typeof(key) <> 'integer'").get()).toEqual([2]);
  });
});

function sharedOf({ shared }: Broker): SharedState {
  if (shared === undefined) throw new Error('this broker shares nothing');
  return shared;
}
