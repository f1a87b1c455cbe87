const METHOD = 1;
const HEADER = 2;
const BODY = 3;
const END = 0xce;
const HEAD_BYTES = 7;
/** Of every frame: type, channel and length in front, the end mark behind. */
const FRAME_OVERHEAD: number = HEAD_BYTES + 1;

const BASIC = 60;
const PUBLISH = 40;
const ACK = 80;
const NACK = 120;
const MANDATORY = 0b1;
const REQUEUE = 0b10;
/** Class, method, tag, bits. */
const SETTLE_BYTES = 4 + 8 + 1;
/** Class, weight, size of the body. */
const HEADER_BYTES = 12;

/** One acknowledgement for each tag, in one piece. */
export function acks(channel: number, tags: readonly number[]): Buffer {
  return settles(channel, tags, ACK, 0);
}

/** Gives each back to the queue. */
export function requeues(channel: number, tags: readonly number[]): Buffer {
  return settles(channel, tags, NACK, REQUEUE);
}

function settles(channel: number, tags: readonly number[], method: number, bits: number): Buffer {
  const out = Buffer.allocUnsafe(tags.length * (FRAME_OVERHEAD + SETTLE_BYTES));
  let at = 0;
  for (const tag of tags) {
    at = writeHead(out, at, METHOD, channel, SETTLE_BYTES);
    at = out.writeUInt16BE(BASIC, at);
    at = out.writeUInt16BE(method, at);
    at = out.writeUInt32BE(Math.floor(tag / 2 ** 32), at);
    at = out.writeUInt32BE(tag % 2 ** 32, at);
    out[at++] = bits;
    out[at++] = END;
  }
  return out;
}

/** What is sent, and where to. Exchange and routing key are in bytes of AMQP: their length in front. */
export interface Publication {
  readonly exchange: Buffer;
  readonly routingKey: Buffer;
  readonly properties: Buffer;
  readonly body: Uint8Array;
}

/** The largest properties that fit the one frame they must be in. */
export function roomForProperties(frameMax: number): number {
  return frameMax - FRAME_OVERHEAD - HEADER_BYTES;
}

/** All frames of one mandatory publish, in one piece. */
export function publishFrames(channel: number, frameMax: number, publication: Publication): Buffer {
  const { exchange, routingKey, properties, body } = publication;
  const methodBytes = 4 + 2 + exchange.length + routingKey.length + 1;
  const headerBytes = HEADER_BYTES + properties.length;
  const pieceBytes = frameMax - FRAME_OVERHEAD;
  const pieces = Math.ceil(body.length / pieceBytes);
  const out = Buffer.allocUnsafe((2 + pieces) * FRAME_OVERHEAD + methodBytes + headerBytes + body.length);

  let at = writeHead(out, 0, METHOD, channel, methodBytes);
  at = out.writeUInt16BE(BASIC, at);
  at = out.writeUInt16BE(PUBLISH, at);
  at = out.writeUInt16BE(0, at);
  at = put(out, at, exchange);
  at = put(out, at, routingKey);
  out[at++] = MANDATORY;
  out[at++] = END;

  at = writeHead(out, at, HEADER, channel, headerBytes);
  at = out.writeUInt16BE(BASIC, at);
  at = out.writeUInt16BE(0, at);
  at = out.writeUInt32BE(0, at);
  at = out.writeUInt32BE(body.length, at);
  at = put(out, at, properties);
  out[at++] = END;

  for (let from = 0; from < body.length; from += pieceBytes) {
    const piece = body.subarray(from, from + pieceBytes);
    at = writeHead(out, at, BODY, channel, piece.length);
    at = put(out, at, piece);
    out[at++] = END;
  }
  return out;
}

function writeHead(out: Buffer, at: number, type: number, channel: number, size: number): number {
  out[at] = type;
  out.writeUInt16BE(channel, at + 1);
  return out.writeUInt32BE(size, at + 3);
}

function put(out: Buffer, at: number, bytes: Uint8Array): number {
  out.set(bytes, at);
  return at + bytes.length;
}

// --- reading

export interface HeaderFrame {
  readonly channel: number;
  readonly bodySize: number;
  readonly properties: Buffer;
  /** Of the whole frame. */
  readonly size: number;
}

/** The content header at the start of `bytes`; `undefined` where there is something else, or not all of it yet. */
export function headerFrameOf(bytes: Buffer, maxSize: number): HeaderFrame | undefined {
  if (bytes.length < FRAME_OVERHEAD || bytes[0] !== HEADER) return undefined;
  const payload = bytes.readUInt32BE(3);
  const size = payload + FRAME_OVERHEAD;
  if (bytes.length < size || payload < HEADER_BYTES || bytes[size - 1] !== END) return undefined;
  if (maxSize > 0 && payload > maxSize) return undefined;
  return {
    channel: bytes.readUInt16BE(1),
    bodySize: bytes.readUInt32BE(HEAD_BYTES + 4) * 2 ** 32 + bytes.readUInt32BE(HEAD_BYTES + 8),
    properties: bytes.subarray(HEAD_BYTES + HEADER_BYTES, size - 1),
    size,
  };
}
