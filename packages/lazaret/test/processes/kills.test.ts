import { afterEach, describe, expect, it } from 'vitest';
import { exit, fleet, pause, until } from './fleet.ts';

/** Real processes on one SQLite file, killed for real. */
describe('processes on one SQLite file', () => {
  let ships = fleet();
  afterEach(async () => {
    await ships.end();
    ships = fleet();
  });

  async function send(ids: readonly string[]): Promise<void> {
    const broker = await ships.look();
    for (let at = 0; at < ids.length; at += 1_000) {
      const batch = ids.slice(at, at + 1_000).map((id) => ({ id, body: new TextEncoder().encode('{}') }));
      const results = await broker.publish('orders', batch);
      expect(results.every((result) => result === 'done')).toBe(true);
    }
    await broker.close();
  }

  async function left(): Promise<number> {
    const broker = await ships.look();
    const { ready = 0, delayed = 0, leased = 0 } = await broker.inspect('orders');
    await broker.close();
    return ready + delayed + leased;
  }

  async function letters(): Promise<{ id: string | undefined; reason: string; strikes: number }[]> {
    const broker = await ships.look();
    const { items } = await broker.letters.list({ queue: 'orders', max: 1_000 });
    await broker.close();
    return items.map(({ message, evidence: { reason, strikes } }) => ({ id: message.id, reason, strikes }));
  }

  it('a message that exits the process with 137 is started at most four times, twice alone, and quarantined; its 20 neighbours are done', async () => {
    const good = Array.from({ length: 20 }, (_, n) => `good-${n}`);
    await send([...good.slice(0, 10), 'bad', ...good.slice(10)]);
    let supervised = true;
    const supervise = async () => {
      while (supervised)
        await exit(await ships.start('killer', { visibilityTimeout: '1s', timeout: '30s', concurrency: 10 }));
    };
    void supervise();
    await until(
      'the quarantine holds the bad one',
      60_000,
      async () => (await letters()).length > 0 && (await left()) === 0,
    );
    supervised = false;

    expect(await letters()).toEqual([{ id: 'bad', reason: 'crash', strikes: 4 }]);
    const starts = ships.done().filter(({ what, id }) => what === 'start' && id === 'bad');
    expect(starts.length).toBeLessThanOrEqual(4);
    expect(starts.slice(-2).map(({ extra }) => extra)).toEqual(['alone', 'alone']);
    const done = new Set(
      ships
        .done()
        .filter(({ what }) => what === 'end')
        .map(({ id }) => id),
    );
    expect(good.filter((id) => !done.has(id))).toEqual([]);
  }, 90_000);

  it('200 kills at random moments over 10,000 messages lose nothing, and convict nobody who was not killed twice alone', async () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => `m-${n}`);
    await send(ids);
    const options = { visibilityTimeout: '1s', timeout: '30s', concurrency: 10 };
    let kills = 0;
    const keepOne = async () => {
      while (kills < 200) {
        const child = await ships.start('quick', options);
        await pause(Math.random() * 100);
        child.kill('SIGKILL');
        await exit(child);
        kills++;
      }
    };
    await Promise.all([keepOne(), keepOne()]);
    await ships.start('quick', options);
    await ships.start('quick', options);
    await until('the queue is empty', 120_000, async () => (await left()) === 0);

    const done = new Set(
      ships
        .done()
        .filter(({ what }) => what === 'end')
        .map(({ id }) => id),
    );
    const dead = await letters();
    expect(ids.filter((id) => !done.has(id) && !dead.some((letter) => letter.id === id))).toEqual([]);
    // n.b. who is killed between its claim and its first word leaves no line.
    for (const { id, strikes } of dead) {
      const killedAlone = ships
        .done()
        .filter((line) => line.id === id && line.what === 'start' && line.extra === 'alone').length;
      expect({ id, strikes, tooOften: killedAlone > 2 }).toEqual({ id, strikes: 4, tooOften: false });
    }
    console.log(`${kills} kills, ${ids.length} messages, ${done.size} done, ${dead.length} in the quarantine`);
  }, 240_000);

  it('a blocked event loop loses its lease: one completion counts, and the loser says so', async () => {
    await ships.start('blocker', { visibilityTimeout: '2s', timeout: '30s' });
    await send(['slow']);
    await until('the first has it', 5_000, () => ships.done().some(({ what }) => what === 'start'));
    await ships.start('blocker', { visibilityTimeout: '2s', timeout: '30s' });
    await until('both are through', 20_000, () => ships.done().filter(({ what }) => what === 'end').length === 2);
    await pause(500);
    expect(ships.events.filter(({ name }) => name === 'done')).toHaveLength(1);
    const winner = ships.events.find(({ name }) => name === 'done')!.pid;
    expect(ships.events.filter(({ name }) => name === 'lease-lost').map(({ pid }) => pid === winner)).toEqual([false]);
    expect(await left()).toBe(0);
  }, 40_000);

  it('the first signal drains, the second ends the process at once', async () => {
    await send(['m']);
    const child = await ships.start('stuck', {});
    await until('it runs', 5_000, () => ships.done().length > 0);
    const began = performance.now();
    child.kill('SIGTERM');
    await pause(200);
    child.kill('SIGTERM');
    expect(await exit(child)).toEqual({ code: null, signal: 'SIGTERM' });
    expect(performance.now() - began).toBeLessThan(2_000);
  }, 20_000);
});
