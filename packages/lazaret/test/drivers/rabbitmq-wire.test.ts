import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AmqpWire } from '../../src/drivers/rabbitmq/amqplib.ts';
import {
  acks,
  headerFrameOf,
  publishFrames,
  requeues,
  roomForProperties,
} from '../../src/drivers/rabbitmq/wire/frames.ts';
import { readProperties, writeProperties } from '../../src/drivers/rabbitmq/wire/properties.ts';
import { keepRawProperties } from '../../src/drivers/rabbitmq/wire/tap.ts';
import { field, int64, properties, short, text } from './rabbitmq/tables.ts';

describe('properties', () => {
  const all = {
    contentType: short('text/plain'),
    contentEncoding: short('gzip'),
    headers: Buffer.concat([Buffer.of(0, 0, 0, 4), Buffer.of(1, 97, 116, 1)]),
    deliveryMode: Buffer.of(2),
    priority: Buffer.of(9),
    correlationId: short('c'),
    replyTo: short('r'),
    expiration: short('100'),
    messageId: short('m'),
    timestamp: int64(1n),
    type: short('t'),
    userId: short('guest'),
    appId: short('a'),
    clusterId: short(''),
  };
  const names = Object.keys(all) as (keyof typeof all)[];

  it('are read as they were written, whichever of them are there', () => {
    fc.assert(
      fc.property(fc.subarray(names), (some) => {
        const chosen = Object.fromEntries(some.map((name) => [name, all[name]]));
        expect(readProperties(writeProperties(chosen))).toEqual(chosen);
      }),
    );
  });

  it('are none where bytes are missing or left over', () => {
    const bytes = writeProperties(all);
    expect(readProperties(bytes.subarray(0, -1))).toBeUndefined();
    expect(readProperties(Buffer.concat([bytes, Buffer.of(0)]))).toBeUndefined();
  });

  it('never throw, whatever comes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => void readProperties(Buffer.from(bytes))));
  });
});

describe('frames', () => {
  it('acknowledge and give back each tag by itself', () => {
    expect(acks(3, [1, 2 ** 33 + 7]).toString('hex')).toBe(
      ['010003 0000000d 003c 0050 0000000000000001 00 ce', '010003 0000000d 003c 0050 0000000200000007 00 ce']
        .join('')
        .replaceAll(' ', ''),
    );
    expect(requeues(1, [5]).toString('hex')).toBe('0100010000000d003c0078000000000000000502ce');
  });

  it('publish mandatory, with the properties as they are and the body in pieces', () => {
    const publication = {
      exchange: short('e'),
      routingKey: short('key'),
      properties: properties([field('h', 'S', text('x'))]),
      body: Buffer.from('0123456789'),
    };
    const bytes = publishFrames(1, 8 + 4, publication);
    const frames: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const size = bytes.readUInt32BE(at + 3) + 8;
      frames.push(bytes.subarray(at, at + size));
      at += size;
    }
    expect(frames.map((frame) => [frame[0], frame.at(-1)])).toEqual([
      [1, 0xce],
      [2, 0xce],
      [3, 0xce],
      [3, 0xce],
      [3, 0xce],
    ]);
    expect(frames[0]!.toString('hex', 7)).toBe('003c002800000165036b657901ce');
    expect(headerFrameOf(frames[1]!, 0)).toMatchObject({
      channel: 1,
      bodySize: 10,
      properties: publication.properties,
    });
    expect(Buffer.concat(frames.slice(2).map((frame) => frame.subarray(7, -1))).toString()).toBe('0123456789');
  });

  it('of an empty body are two', () => {
    const empty = { exchange: short(''), routingKey: short('q'), properties: Buffer.alloc(2), body: new Uint8Array(0) };
    expect(publishFrames(1, 131_072, empty).length).toBe(8 + 10 + 8 + 14);
  });

  it('leave room for properties as large as one frame takes', () => {
    const room = roomForProperties(4_096);
    const full = {
      exchange: short(''),
      routingKey: short('q'),
      properties: Buffer.alloc(room),
      body: new Uint8Array(0),
    };
    expect(headerFrameOf(publishFrames(1, 4_096, full).subarray(18), 4_096)?.size).toBe(4_096);
  });
});

describe('the way of arriving properties', () => {
  const header = publishFrames(7, 131_072, {
    exchange: short(''),
    routingKey: short('q'),
    properties: properties([field('h', 'S', text('x'))]),
    body: Buffer.from('b'),
  }).subarray(18);

  function wire(rest: Buffer): AmqpWire & { readonly others: Buffer[] } {
    const others: Buffer[] = [];
    return {
      others,
      rest,
      maxFrameSize: 0,
      frameMax: 131_072,
      serverProperties: {},
      stream: { write: () => true, destroy: () => undefined },
      recvFrame() {
        others.push(this.rest);
        return false;
      },
    };
  }

  it('is past the decoder', () => {
    const tapped = wire(header);
    keepRawProperties(tapped);
    const raw = headerFrameOf(header, 0)!.properties;
    expect(tapped.recvFrame()).toEqual({ id: 60, channel: 7, size: 1, fields: { raw } });
    expect(tapped.rest[0]).toBe(3);
    expect(tapped.others).toEqual([]);
  });

  it.each([
    ['a frame that is not whole', header.subarray(0, 20)],
    ['a frame of another kind', Buffer.of(1, 0, 1, 0, 0, 0, 0, 0xce)],
    ['a frame without its end', Buffer.concat([header.subarray(0, headerFrameOf(header, 0)!.size - 1), Buffer.of(0)])],
    ['nothing', Buffer.alloc(0)],
  ])('is left to the client for %s', (_, rest) => {
    const tapped = wire(rest);
    keepRawProperties(tapped);
    expect(tapped.recvFrame()).toBe(false);
    expect(tapped.others).toEqual([rest]);
  });
});
