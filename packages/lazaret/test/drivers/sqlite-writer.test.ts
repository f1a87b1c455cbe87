import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SqliteBroker } from '../../src/drivers/sqlite/broker.ts';
import type { Delivery, Settlement, Subscription } from '../../src/ports/broker.ts';
import type { SqliteDatabase } from '../../src/sqlite/binding.ts';
import { evidenceFor, message, one, pull, QUEUE, Scene, subscribe, textOf } from './sqlite-scene.ts';

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.end());

const ack = (delivery: Delivery): Settlement => ({ delivery, verb: 'ack' });
const send = (broker: SqliteBroker, ...texts: string[]) =>
  broker.publish(
    QUEUE,
    texts.map((text) => message(text)),
  );

/** A database that notes the durability of each transaction that is begun on it. */
function noting(file: string): { readonly database: SqliteDatabase; readonly begun: string[] } {
  const real = new DatabaseSync(file);
  const begun: string[] = [];
  let synchronous = '?';
  const database: SqliteDatabase = {
    prepare(sql) {
      const statement = real.prepare(sql);
      if (sql !== 'BEGIN IMMEDIATE') return statement;
      return {
        setReadBigInts: () => {},
        run: () => {
          begun.push(synchronous);
          return statement.run();
        },
      };
    },
    exec(sql) {
      synchronous = /^PRAGMA synchronous = (\w+)/.exec(sql)?.[1] ?? synchronous;
      real.exec(sql);
    },
    close: () => real.close(),
  };
  return { database, begun };
}

describe('one transaction for one turn', () => {
  it('holds what is settled, published and pulled together', async () => {
    const { database, begun } = noting(scene.file);
    const broker = await scene.broker({ database });
    const subscription = await subscribe(broker);
    await send(broker, 'a');
    const a = await one(subscription);
    begun.length = 0;
    const [, , pulled] = await Promise.all([subscription.settle([ack(a)]), send(broker, 'b'), one(subscription)]);
    expect(textOf(pulled)).toBe('b');
    expect(begun).toHaveLength(1);
  });

  it('gives the event loop a turn between parts of a very large one', async () => {
    const { database, begun } = noting(scene.file);
    const broker = await scene.broker({ database });
    await send(broker, 'first');
    begun.length = 0;
    const batch = Array.from({ length: 4_000 }, () => ({ body: null }));
    let turned = 0;
    const all = Promise.all([1, 2, 3, 4].map(() => broker.publish(QUEUE, batch)));
    scene.system.turn(() => turned++);
    await all;
    expect(begun).toHaveLength(2);
    expect(turned).toBe(1);
    expect(await broker.inspect(QUEUE)).toMatchObject({ ready: 16_001 });
  });

  it('is synced to disk for publish, retry and dead letter, and not for claim, ack, extend and release', async () => {
    const { database, begun } = noting(scene.file);
    const broker = await scene.broker({ database });
    const subscription = await subscribe(broker);
    const durability = async (work: () => Promise<unknown>) => {
      begun.length = 0;
      await work();
      return begun;
    };
    expect(await durability(() => send(broker, 'a', 'b', 'c', 'd'))).toEqual(['FULL']);
    let deliveries: readonly Delivery[] = [];
    expect(
      await durability(async () => {
        deliveries = await pull(subscription);
      }),
    ).toEqual(['NORMAL']);
    const [a, b, c, d] = deliveries;
    expect(await durability(() => subscription.extend([{ delivery: a!, leaseMs: 1 }]))).toEqual(['NORMAL']);
    expect(await durability(() => subscription.settle([{ delivery: a!, verb: 'retry', delayMs: 0 }]))).toEqual([
      'FULL',
    ]);
    expect(await durability(() => subscription.settle([ack(b!)]))).toEqual(['NORMAL']);
    expect(await durability(() => subscription.settle([{ delivery: c!, verb: 'release', delayMs: 0 }]))).toEqual([
      'NORMAL',
    ]);
    const evidence = evidenceFor(d!, 1);
    expect(await durability(() => subscription.settle([{ delivery: d!, verb: 'deadLetter', evidence }]))).toEqual([
      'FULL',
    ]);
  });
});

describe('a lock of somebody else', () => {
  it('keeps the process alive while something is to be written', async () => {
    const { system } = scene;
    let alive = 0;
    system.stayAlive = () => {
      alive++;
      return () => {
        alive--;
      };
    };
    const broker = await scene.broker();
    const stranger = await scene.stranger();
    stranger.exec('BEGIN IMMEDIATE');
    const published = send(broker, 'a');
    await system.advance(100);
    expect(alive).toBe(1);
    stranger.exec('COMMIT');
    await system.advance(200);
    expect(alive).toBe(0);
    expect(await published).toEqual(['done']);
  });

  it('is waited for without blocking, and all that came meanwhile is done', async () => {
    const broker = await scene.broker();
    const subscription = await subscribe(broker);
    const stranger = await scene.stranger();
    stranger.exec('BEGIN IMMEDIATE');
    const published = send(broker, 'a');
    await scene.system.advance(500);
    const more = send(broker, 'b');
    const pulled = pull(subscription);
    await scene.system.advance(500);
    stranger.exec('COMMIT');
    await scene.system.advance(100);
    expect(await published).toEqual(['done']);
    expect(await more).toEqual(['done']);
    expect((await pulled).map(textOf)).toEqual(['a', 'b']);
  });

  it.each([
    ['10s', 9_900, 10_200],
    ['1s', 900, 1_200],
  ] as const)('is given up after the lock timeout of %s', async (lockTimeout, before, after) => {
    const broker = await scene.broker({ lockTimeout });
    const subscription = await subscribe(broker);
    const stranger = await scene.stranger();
    stranger.exec('BEGIN IMMEDIATE');
    let results: readonly unknown[] | undefined;
    let failure: unknown;
    void send(broker, 'a').then((answer) => {
      results = answer;
    });
    pull(subscription).catch((error: unknown) => {
      failure = error;
    });
    await scene.system.advance(before);
    expect([results, failure]).toEqual([undefined, undefined]);
    await scene.system.advance(after - before);
    expect(results).toEqual([
      expect.objectContaining({ code: 'LZ1117', message: expect.stringContaining(scene.file) }),
    ]);
    expect(failure).toMatchObject({ code: 'LZ1117' });
    stranger.exec('COMMIT');
    expect(await send(broker, 'b')).toEqual(['done']);
    expect((await pull(subscription)).map(textOf)).toEqual(['b']);
  });
});

describe('a full disk', () => {
  let broker: SqliteBroker;
  let subscription: Subscription;
  let database: InstanceType<typeof DatabaseSync>;
  const grow = (pages: number) => database.exec(`PRAGMA max_page_count = ${pages}`);
  const large = (text: string) => message(text, { headers: [['x', 'y'.repeat(500_000)]] });

  beforeEach(async () => {
    database = new DatabaseSync(scene.file);
    broker = await scene.broker({ database });
    subscription = await subscribe(broker);
    await send(broker, 'a', 'b', 'c');
  });

  it('is told to the call that found no room; what is stored stays, and more goes in when there is room again', async () => {
    grow(1);
    expect(await broker.publish(QUEUE, [large('d')])).toEqual([expect.objectContaining({ code: 'LZ1115' })]);
    expect((await broker.browse!(QUEUE, undefined, 10)).items.map(({ id }) => id)).toEqual(['id-a', 'id-b', 'id-c']);
    grow(1_000_000);
    expect(await broker.publish(QUEUE, [large('d')])).toEqual(['done']);
  });

  it('harms no neighbour: not in the same call, and not another call of the same turn', async () => {
    const [a, b] = await pull(subscription, 2);
    grow(1);
    const [published, settled, pulled] = await Promise.all([
      broker.publish(QUEUE, [large('d'), message('e'), large('f')]),
      subscription.settle([
        ack(a!),
        { delivery: b!, verb: 'deadLetter', evidence: evidenceFor(b!, 1, { why: 'y'.repeat(500_000) }) },
      ]),
      pull(subscription, 1),
    ]);
    const full = expect.objectContaining({ code: 'LZ1115' });
    expect(published).toEqual([full, 'done', full]);
    expect(settled).toEqual(['done', full]);
    expect(pulled.map(textOf)).toEqual(['c']);
    grow(1_000_000);
    expect(await subscription.settle([ack(b!)])).toEqual(['done']);
    expect((await pull(subscription)).map(textOf)).toEqual(['e']);
    expect((await broker.letters.list({ max: 10 })).items).toEqual([]);
  });
});

it('finds one guilty message among a thousand in few transactions', async () => {
  const { database, begun } = noting(scene.file);
  const broker = await scene.broker({ database });
  await send(broker, 'first');
  database.exec('PRAGMA max_page_count = 300');
  begun.length = 0;
  const batch = Array.from({ length: 1_000 }, (_, i) => ({ body: i === 777 ? Buffer.alloc(2_000_000) : null }));
  const results = await broker.publish(QUEUE, batch);
  expect(results.flatMap((result, i) => (result === 'done' ? [] : [i]))).toEqual([777]);
  expect(begun.length).toBeLessThan(30);
});

describe.skipIf(!canMount())('a file system that is really full', () => {
  let mounted: string;
  beforeEach(() => {
    mounted = join(scene.folder, 'small');
    mkdirSync(mounted);
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', mounted]);
  });
  afterEach(() => execFileSync('/bin/umount', ['--lazy', mounted]));

  it('loses nothing that was confirmed, and takes more when there is room again', async () => {
    const ballast = join(mounted, 'ballast');
    writeFileSync(ballast, Buffer.alloc(1_000_000));
    const broker = await scene.broker({ file: join(mounted, 'test.db') });
    const confirmed: string[] = [];
    let refused: unknown;
    for (let i = 0; refused === undefined && i < 1_000; i++) {
      const [result] = await broker.publish(QUEUE, [message(`m${i}`, { headers: [['x', 'y'.repeat(10_000)]] })]);
      if (result === 'done') confirmed.push(`m${i}`);
      else refused = result;
    }
    expect(refused).toMatchObject({ code: 'LZ1115', message: expect.stringContaining('disk is full') });
    expect(confirmed.length).toBeGreaterThan(10);
    rmSync(ballast);
    expect(await send(broker, 'after')).toEqual(['done']);
    const seen: string[] = [];
    const subscription = await subscribe(broker);
    for (let some = await pull(subscription); some.length > 0; some = await pull(subscription)) {
      seen.push(...some.map(textOf));
      expect(await subscription.settle(some.map(ack))).toEqual(some.map(() => 'done'));
    }
    expect(seen).toEqual([...confirmed, 'after']);
    await broker.close();
  });
});

describe('a closed broker', () => {
  it('has done what was asked before, ends pulls that wait, and refuses what comes later', async () => {
    const broker = await scene.broker();
    const subscription = await subscribe(broker, { waitMs: 60_000 });
    const waiting = pull(subscription);
    await scene.system.settle();
    const published = send(broker, 'a');
    await broker.close();
    expect(await published).toEqual(['done']);
    await waiting;
    await expect(send(broker, 'b')).rejects.toMatchObject({ code: 'LZ1102' });
    await expect(pull(subscription)).rejects.toMatchObject({ code: 'LZ1102' });
    await expect(broker.letters.release(['1'])).rejects.toMatchObject({ code: 'LZ1102' });
    await broker.close();
    expect(scene.system.pending()).toBe(0);
  });

  it('leaves a database open that was handed in', async () => {
    const database = new DatabaseSync(scene.file);
    database.exec('CREATE TABLE theirs (x)');
    const broker = await scene.broker({ database });
    await broker.close();
    expect(database.prepare('SELECT count(*) AS n FROM theirs').get()).toEqual({ n: 0 });
    database.close();
  });

  it('whose database somebody closed says so, instead of waiting for ever', async () => {
    const database = new DatabaseSync(scene.file);
    const broker = await scene.broker({ database });
    const subscription = await subscribe(broker, { waitMs: 60_000 });
    const waiting = pull(subscription);
    const failure = expect(waiting).rejects.toMatchObject({ code: 'LZ1102' });
    await scene.system.settle();
    database.close();
    await scene.system.advance(100);
    await failure;
  });
});

/** A disk of a few megabytes is made by mounting one, which only root may, and not in every container. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-mount-'));
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('/bin/umount', [folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
