/** What this driver uses of @nats-io/transport-node and @nats-io/jetstream 3.4: types only, since neither is a dependency of the library. */
export interface Client {
  connect(options: object): Promise<NatsConnection>;
  jetstreamManager(connection: NatsConnection, options: ManagerOptions): Promise<JetStreamManager>;
}

interface ManagerOptions {
  readonly checkAPI: boolean;
  readonly timeout: number;
}

export interface NatsConnection {
  readonly info?: { readonly version: string; readonly max_payload: number } | undefined;
  publish(subject: string, body?: Uint8Array | string, options?: PublishOptions): void;
  subscribe(subject: string, options: SubscribeOptions): Inbox;
  /** Resolves when the server has read what was written before. */
  flush(): Promise<void>;
  status(): AsyncIterable<{ readonly type: string }>;
  isClosed(): boolean;
  close(): Promise<void>;
}

interface PublishOptions {
  readonly reply?: string;
  readonly headers?: Encodable;
}

/** n.b. the client types its own list of headers here; what it asks of it are its bytes. */
export interface Encodable {
  encode(): Uint8Array;
}

interface SubscribeOptions {
  readonly queue?: string;
  callback(error: Error | null, message: Msg): void;
}

export interface Inbox {
  unsubscribe(): void;
  /** Resolves when nothing more can come. */
  drain(): Promise<void>;
}

export interface Msg {
  readonly subject: string;
  readonly reply?: string;
  readonly data: Uint8Array;
  readonly headers?: Headers | undefined;
  json<T>(): T;
}

interface Headers extends Iterable<[string, string[]]> {
  /** Of an answer of the server; 0 in a message. */
  readonly code: number;
  readonly description: string;
  /** '' where there is none. */
  get(name: string): string;
}

// --- JetStream --------------------------------------------------------------------------------------------------------

export interface JetStreamManager {
  getAccountInfo(): Promise<unknown>;
  readonly streams: {
    names(subject: string): { next(): Promise<readonly string[]> };
    info(stream: string): Promise<StreamInfo>;
    add(config: StreamConfig): Promise<unknown>;
    /** `null`: no such message. */
    getMessage(
      stream: string,
      query: { readonly seq: number; readonly next_by_subj?: string },
    ): Promise<StoredMsg | null>;
  };
  readonly consumers: {
    info(stream: string, consumer: string): Promise<ConsumerInfo>;
    add(stream: string, config: ConsumerConfig): Promise<unknown>;
  };
}

interface StreamConfig {
  readonly name: string;
  readonly subjects?: readonly string[];
  readonly retention: 'limits' | 'interest' | 'workqueue';
  readonly storage: 'file' | 'memory';
  readonly num_replicas: number;
  /** Nanoseconds, as all times of JetStream. */
  readonly duplicate_window: number;
}

export interface StreamInfo {
  readonly config: { readonly subjects?: readonly string[]; readonly retention: StreamConfig['retention'] };
  readonly state: { readonly messages: number };
}

export interface StoredMsg {
  readonly subject: string;
  readonly seq: number;
  readonly data: Uint8Array;
  readonly header?: Headers | undefined;
  readonly time: Date;
  readonly timestamp: string;
}

interface ConsumerConfig {
  readonly durable_name?: string;
  readonly ack_policy: string;
  readonly ack_wait?: number;
  readonly backoff?: readonly number[];
  readonly max_deliver?: number;
  readonly max_ack_pending?: number;
  readonly max_batch?: number;
  readonly max_expires?: number;
  readonly filter_subject?: string;
  readonly deliver_subject?: string;
}

export interface ConsumerInfo {
  readonly config: ConsumerConfig;
  readonly num_pending: number;
  readonly num_ack_pending: number;
  readonly num_redelivered: number;
}
