/** The part of amqplib 2.3 that we use. What its own types leave out (the stream, the frame reader) is marked, and watched by one test. */
export interface Amqplib {
  connect(url: string, socketOptions: object): Promise<AmqpConnection>;
}

export interface AmqpConnection {
  /** Not in its types. */
  readonly connection: AmqpWire;
  createChannel(): Promise<AmqpChannel>;
  createConfirmChannel(): Promise<AmqpChannel>;
  close(): Promise<void>;
  on(event: 'error', listener: (error: AmqpError) => void): unknown;
  on(event: 'close', listener: (error?: AmqpError) => void): unknown;
  on(event: 'blocked', listener: (reason: string) => void): unknown;
  on(event: 'unblocked', listener: () => void): unknown;
}

/** amqplib's inner connection. */
export interface AmqpWire {
  readonly serverProperties: Readonly<Record<string, unknown>>;
  readonly frameMax: number;
  readonly maxFrameSize: number;
  readonly stream: AmqpStream;
  /** Bytes that have arrived and are no frame yet. */
  rest: Buffer;
  /** The next frame, `false` while none is whole. Calls itself when more has arrived. */
  recvFrame(): unknown;
}

interface AmqpStream {
  write(bytes: Uint8Array): boolean;
  destroy(): unknown;
}

export interface AmqpChannel {
  /** Its number on the wire. Not in its types. */
  readonly ch: number;
  assertQueue(queue: string, options: QueueDeclaration): Promise<unknown>;
  checkQueue(queue: string): Promise<{ readonly messageCount: number; readonly consumerCount: number }>;
  checkExchange(exchange: string): Promise<unknown>;
  prefetch(count: number): Promise<unknown>;
  consume(
    queue: string,
    arrive: (message: AmqpMessage | null) => void,
    options: { readonly noAck: false },
  ): Promise<{ readonly consumerTag: string }>;
  cancel(consumerTag: string): Promise<unknown>;
  get(queue: string, options: { readonly noAck: false }): Promise<AmqpMessage | false>;
  close(): Promise<void>;
  on(event: 'error', listener: (error: AmqpError) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  on(event: 'ack' | 'nack', listener: (confirm: Confirm) => void): unknown;
  on(event: 'return', listener: (message: AmqpMessage) => void): unknown;
}

export interface QueueDeclaration {
  readonly durable: boolean;
  readonly arguments: Readonly<Record<string, string | number | boolean>>;
}

export interface AmqpMessage {
  readonly fields: {
    readonly deliveryTag: number;
    readonly redelivered: boolean;
    readonly exchange: string;
    readonly routingKey: string;
  };
  /** As `keepRawProperties` leaves them. */
  readonly properties: { readonly raw: Buffer };
  readonly content: Buffer;
}

export interface Confirm {
  readonly deliveryTag: number;
  readonly multiple: boolean;
}

export interface AmqpError extends Error {
  readonly code?: number | string;
}
