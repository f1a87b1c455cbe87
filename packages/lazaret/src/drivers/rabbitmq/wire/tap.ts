import type { AmqpWire } from '../amqplib.ts';
import { headerFrameOf } from './frames.ts';

const BASIC = 60;

/**
 * Leaves the properties of every arriving message as the bytes they came in: amqplib would decode them, and lose the widths
 * of numbers, names like `__proto__` and repeated ones, and end the connection over a table that it cannot read.
 */
export function keepRawProperties(wire: AmqpWire): void {
  const receive = wire.recvFrame;
  // n.b. amqplib's own reader comes back to this one as soon as more bytes have arrived.
  wire.recvFrame = function (this: AmqpWire) {
    const header = headerFrameOf(this.rest, this.maxFrameSize);
    if (header === undefined) return receive.call(this);
    this.rest = this.rest.subarray(header.size);
    return { id: BASIC, channel: header.channel, size: header.bodySize, fields: { raw: header.properties } };
  };
}
