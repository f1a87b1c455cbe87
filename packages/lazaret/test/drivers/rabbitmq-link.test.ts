import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AmqpConnection } from '../../src/drivers/rabbitmq/amqplib.ts';
import { LaneWatch } from '../../src/drivers/rabbitmq/lane-watch.ts';
import { Link } from '../../src/drivers/rabbitmq/link.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';

/** A connection that ends when it is told to. */
class FakeConnection extends EventEmitter {
  isDestroyed = false;
  readonly connection = { stream: { write: () => true, destroy: () => this.#destroy() } };
  #destroy(): void {
    this.isDestroyed = true;
  }
  async close(): Promise<void> {
    this.emit('close');
  }
  cut(): void {
    this.emit('error', new Error('read ECONNRESET'));
    this.emit('close');
  }
}

describe('a link', () => {
  let system: ManualSystem;
  let dialled: FakeConnection[];
  let refusals: number;
  let link: Link;
  const told: string[] = [];

  beforeEach(() => {
    system = new ManualSystem();
    dialled = [];
    refusals = 0;
    told.length = 0;
    link = new Link(system, async () => {
      if (refusals-- > 0) throw new Error('connect ECONNREFUSED');
      const connection = new FakeConnection();
      dialled.push(connection);
      return connection as unknown as AmqpConnection;
    });
    link.attach({
      up: async () => void told.push('up'),
      down: () => void told.push('down'),
    });
  });

  it('fails at once where nobody answers, and may be tried again', async () => {
    refusals = 1;
    await expect(link.open()).rejects.toThrowError('ECONNREFUSED');
    await link.open();
    expect(told).toEqual(['up']);
  });

  it('is dialled once however many ask for it', async () => {
    await Promise.all([link.open(), link.open()]);
    expect(dialled).toHaveLength(1);
  });

  it('comes back from every loss, and tells it once', async () => {
    await link.open();
    for (let n = 0; n < 3; n++) {
      dialled.at(-1)!.cut();
      expect(link.connection).toBeUndefined();
      await system.advance(100);
    }
    expect(told).toEqual(['up', 'down', 'up', 'down', 'up', 'down', 'up']);
  });

  it('asks less and less often while nobody answers, and knows for how long and why', async () => {
    await link.open();
    refusals = 1_000;
    dialled[0]!.cut();
    await system.advance(60_000);
    const tries = 1_000 - refusals;
    expect(tries).toBeGreaterThan(30);
    expect(tries).toBeLessThan(130);
    expect(link.awayMs).toBe(60_000);
    expect(link.trouble?.message).toBe('connect ECONNREFUSED');
    refusals = 0;
    const connected = link.connected(5_000);
    await system.advance(2_000);
    expect(await connected).toBe(dialled[1]);
    expect(link.awayMs).toBe(0);
  });

  it('lets nobody wait longer than he wants to', async () => {
    await link.open();
    refusals = 1_000;
    dialled[0]!.cut();
    const connected = link.connected(300);
    await system.advance(300);
    expect(await connected).toBeUndefined();
  });

  it('leaves a connection that answers no more, and hears nothing more of it', async () => {
    await link.open();
    link.abandon(dialled[0] as unknown as AmqpConnection, new Error('no confirm'));
    expect(dialled[0]!.isDestroyed).toBe(true);
    await system.advance(100);
    dialled[0]!.cut();
    expect(told).toEqual(['up', 'down', 'up']);
  });

  it('is dialled no more once it is closed', async () => {
    await link.open();
    dialled[0]!.cut();
    const connected = link.connected(5_000);
    await link.close();
    await system.advance(60_000);
    expect([await connected, dialled.length]).toEqual([undefined, 1]);
    await expect(link.open()).rejects.toMatchObject({ code: 'LZ1102' });
    expect(system.pending()).toBe(0);
  });
});

describe('the watch over suspects', () => {
  it('looks once a second, four times while some wait, and tells what changes', async () => {
    const system = new ManualSystem();
    const told: number[] = [];
    let depth: number | undefined = 0;
    let looks = 0;
    const watch = new LaneWatch(
      system,
      async () => {
        looks++;
        return depth;
      },
      (waiting) => void told.push(waiting),
    );
    watch.look();
    await system.advance(10_000);
    expect([looks, told]).toEqual([11, []]);
    depth = 2;
    await system.advance(1_000);
    looks = 0;
    await system.advance(1_000);
    expect([looks, told]).toEqual([4, [2]]);
    depth = undefined;
    await system.advance(1_000);
    expect(told).toEqual([2]);
    depth = 0;
    watch.look();
    watch.look();
    await system.advance(0);
    expect(told).toEqual([2, 0]);
    watch.stop();
    looks = 0;
    await system.advance(10_000);
    expect([looks, system.pending()]).toEqual([0, 0]);
  });
});
