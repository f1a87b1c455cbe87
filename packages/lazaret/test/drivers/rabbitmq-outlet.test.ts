import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AmqpConnection } from '../../src/drivers/rabbitmq/amqplib.ts';
import { Link } from '../../src/drivers/rabbitmq/link.ts';
import { Outlet, type Sent } from '../../src/drivers/rabbitmq/outlet.ts';
import { parcelTo } from '../../src/drivers/rabbitmq/parcel.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';
import { properties, short } from './rabbitmq/tables.ts';

class FakeChannel extends EventEmitter {
  readonly ch = 1;
  async close(): Promise<void> {
    this.emit('close');
  }
}

class FakeConnection extends EventEmitter {
  readonly channels: FakeChannel[] = [];
  readonly writes: Uint8Array[] = [];
  readonly connection = {
    frameMax: 4_096,
    stream: { write: (bytes: Uint8Array) => this.writes.push(bytes) > 0, destroy: () => undefined },
  };
  async createConfirmChannel(): Promise<FakeChannel> {
    const channel = new FakeChannel();
    this.channels.push(channel);
    return channel;
  }
  async close(): Promise<void> {
    this.emit('close');
  }
}

const parcel = (key: string, id = key, body = 'x') =>
  parcelTo('', key, properties([], { messageId: short(id) }), Buffer.from(body));

describe('an outlet', () => {
  let system: ManualSystem;
  let dialled: FakeConnection[];
  let link: Link;
  let outlet: Outlet;
  const connection = () => dialled.at(-1)!;
  const channel = () => connection().channels.at(-1)!;
  const ack = (deliveryTag: number, multiple = false) => channel().emit('ack', { deliveryTag, multiple });
  const returned = (routingKey: string, id: string) =>
    channel().emit('return', {
      fields: { exchange: '', routingKey },
      properties: { raw: properties([], { messageId: short(id) }) },
    });

  beforeEach(async () => {
    system = new ManualSystem();
    dialled = [];
    link = new Link(system, async () => {
      dialled.push(new FakeConnection());
      return connection() as unknown as AmqpConnection;
    });
    outlet = new Outlet(system, link, 10_000);
    await link.open();
  });

  it('sends all in one write, and answers when the last is confirmed', async () => {
    const sent = outlet.send([parcel('a'), parcel('b'), parcel('c')]);
    expect(connection().writes).toHaveLength(1);
    ack(2);
    channel().emit('nack', { deliveryTag: 3, multiple: false });
    ack(1);
    expect(await sent).toEqual(['done', 'done', 'refused']);
  });

  it('takes one confirm for many, and none for what came later', async () => {
    const first = outlet.send([parcel('a'), parcel('b')]);
    const second = outlet.send([parcel('c')]);
    ack(2, true);
    expect(await first).toEqual(['done', 'done']);
    ack(3);
    expect(await second).toEqual(['done']);
  });

  it('is told before the confirm what found no way, each by its place and its id', async () => {
    const sent = outlet.send([parcel('a', '1'), parcel('a', '2'), parcel('b', '2'), parcel('a', '2')]);
    returned('a', '2');
    returned('a', '2');
    ack(4, true);
    expect(await sent).toEqual(['done', 'unroutable', 'done', 'unroutable']);
  });

  it('does not know what became of what was not confirmed before the connection went', async () => {
    const sent = outlet.send([parcel('a'), parcel('b')]);
    ack(1);
    connection().emit('close');
    expect(await sent).toEqual(['done', 'unknown']);
    expect(await outlet.send([parcel('c')])).toEqual(['unsent']);
    await system.advance(100);
    const again = outlet.send([parcel('c')]);
    ack(1);
    expect(await again).toEqual(['done']);
  });

  it('ends a connection on which a confirm does not come', async () => {
    const early = outlet.send([parcel('a')]);
    await system.advance(6_000);
    const late = outlet.send([parcel('b')]);
    await system.advance(3_999);
    expect(dialled).toHaveLength(1);
    await system.advance(200);
    expect([await early, await late, dialled.length]).toEqual([['unknown'], ['unknown'], 2]);
  });

  it('writes nothing to a server that has an alarm', async () => {
    connection().emit('blocked', 'low on memory');
    expect(await outlet.send([parcel('a')])).toEqual(['unsent']);
    expect(connection().writes).toEqual([]);
    const ready = outlet.ready(5_000);
    connection().emit('unblocked');
    expect(await ready).toBe(true);
    connection().emit('blocked', 'low on memory');
    const never = outlet.ready(5_000);
    await system.advance(5_000);
    expect(await never).toBe(false);
  });

  it('finds the one that was too large, and opens the channel anew for those behind it', async () => {
    const sent = outlet.send([parcel('a'), parcel('b', 'b', 'x'.repeat(60)), parcel('c')]);
    const why = 'message size 60 is larger than configured max size 50';
    channel().emit('error', Object.assign(new Error(why), { code: 406 }));
    channel().emit('close');
    const [before, large, behind] = await sent;
    expect([before, (large as { code?: string }).code, behind]).toEqual(['unknown' satisfies Sent, 'LZ1119', 'unsent']);
    await system.advance(0);
    expect([dialled.length, connection().channels.length, outlet.isReady]).toEqual([1, 2, true]);
  });

  it('refuses what does not fit a frame, and harms no neighbour', async () => {
    const wide = parcelTo('', 'a', properties([], { messageId: short('w') }), Buffer.from('x'));
    const sent = outlet.send([parcel('a'), { ...wide, properties: Buffer.alloc(4_096) }, parcel('b')]);
    ack(2, true);
    const [first, second, third] = await sent;
    expect([first, (second as { code?: string }).code, third]).toEqual(['done', 'LZ1119', 'done']);
  });

  it('leaves no timer behind', async () => {
    const sent = outlet.send([parcel('a')]);
    ack(1);
    await sent;
    await system.advance(20_000);
    expect(system.pending()).toBe(0);
  });
});
