import type { System } from '../../ports/system.ts';
import type {
  KafkaClient,
  Member,
  Membership,
  NewTopic,
  OutgoingRecord,
  PartitionId,
  PartitionLag,
  SendResult,
} from './client.ts';
import { type Assigned, AUTHENTICATION, KafkaFailure, type KafkaRecord, NO_KAFKA, type Position } from './client.ts';
import type {
  Admin,
  Answered,
  Confluent,
  Consumer,
  DescribedTopic,
  GroupOffsets,
  LibraryError,
  NativeRecord,
  PartitionOffset,
  Producer,
} from './confluent-types.ts';

/** Half a minute is the client's own default, longer than anybody waits for a typing error. */
const TOPIC_UNKNOWN_AFTER_MS = 5_000;
const ANSWER_WITHIN_MS = 5_000;
const AGAIN_AFTER_MS = 200;

export interface ConfluentSettings {
  readonly connectTimeoutMs: number;
  readonly confirmTimeoutMs: number;
  readonly sessionTimeoutMs: number;
  readonly maxMessageBytes: number;
  /** librdkafka's, of all clients. */
  readonly common: Readonly<Record<string, unknown>>;
}

/** @confluentinc/kafka-javascript through its callback API. Rejects with what the server said, or that none was there. */
export async function connectConfluent(
  library: Confluent,
  settings: ConfluentSettings,
  system: System,
): Promise<KafkaClient> {
  const { common, connectTimeoutMs, confirmTimeoutMs, maxMessageBytes } = settings;
  const producer = new library.Producer({
    ...common,
    'enable.idempotence': true,
    partitioner: 'murmur2_random',
    'linger.ms': 0,
    'message.timeout.ms': confirmTimeoutMs,
    'message.max.bytes': maxMessageBytes,
    'topic.metadata.propagation.max.ms': Math.min(TOPIC_UNKNOWN_AFTER_MS, confirmTimeoutMs),
    dr_cb: true,
  });
  await connected(producer, connectTimeoutMs);
  producer.setPollInBackground(true);
  return new ConfluentClient(library, settings, producer, system);
}

/**
 * n.b. the client tries until its time is up, and then says no more than that; what went wrong is in its log. A refused login ends
 * the trying at once.
 */
function connected(client: Producer | Consumer, timeout: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let heard: string | undefined;
    client.on('event.log', ({ message }) => {
      heard = message.slice(0, 500);
      if (/\bSASL\b|SSL handshake/i.test(heard)) reject(new KafkaFailure(AUTHENTICATION, plainly(heard)));
    });
    client.connect({ timeout }, (error) => {
      if (!error) resolve();
      else if (heard === undefined) reject(failureOf(error));
      else reject(new KafkaFailure(heard.includes('APIVERSION') ? NO_KAFKA : error.code, plainly(heard), error));
    });
  });
}

/** '[thrd:…]: host:port/bootstrap: … (after 0ms in state CONNECT)' without what surrounds it. */
function plainly(log: string): string {
  return log
    .replace(/^(?:\[thrd:[^\]]*\]: )?(?:\S+\/(?:bootstrap|\d+): )?/, '')
    .replace(/ \(after \d+ms in state .*$/, '');
}

class ConfluentClient implements KafkaClient {
  readonly #library: Confluent;
  readonly #settings: ConfluentSettings;
  readonly #producer: Producer;
  readonly #system: System;
  #admin: Admin | undefined;

  constructor(library: Confluent, settings: ConfluentSettings, producer: Producer, system: System) {
    this.#library = library;
    this.#settings = settings;
    this.#producer = producer;
    this.#system = system;
    producer.on('delivery-report', (error, { opaque }) => opaque(error ? failureOf(error) : 'done'));
  }

  send(records: readonly OutgoingRecord[]): Promise<readonly SendResult[]> {
    const results = new Array<SendResult>(records.length);
    let open = records.length;
    if (open === 0) return Promise.resolve(results);
    return new Promise((resolve) => {
      const answer = (index: number, result: SendResult): void => {
        results[index] = result;
        if (--open === 0) resolve(results);
      };
      for (let index = 0; index < records.length; index++) {
        const { topic, key, value, headers } = records[index]!;
        const opaque = (result: SendResult) => answer(index, result);
        try {
          const native = headers.map(([name, text]) => ({ [name]: solid(Buffer.from(text as Uint8Array)) }));
          this.#producer.produce(topic, null, solid(value), solid(key), null, opaque, native);
        } catch (error) {
          answer(index, failureOf(error));
        }
      }
    });
  }

  async join(wanted: Membership): Promise<Member> {
    const member = new ConfluentMember(this.#library, this.#settings, wanted, this.#system);
    await member.open(this.#settings.connectTimeoutMs);
    return member;
  }

  async partitionsOf(topics: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const described = await this.#ask<readonly DescribedTopic[]>((admin, done) =>
      admin.describeTopics(topics, { timeout: ANSWER_WITHIN_MS }, done),
    );
    const counts = new Map<string, number>();
    for (const { name, partitions, error } of described) {
      if (!error) counts.set(name, partitions.length);
      else if (error.code !== UNKNOWN_TOPIC) throw failureOf(error);
    }
    return counts;
  }

  async createTopic({ name, partitions, replication, config }: NewTopic): Promise<void> {
    const topic = { topic: name, num_partitions: partitions, replication_factor: replication, config };
    try {
      await this.#ask<void>((admin, done) => admin.createTopic(topic, ANSWER_WITHIN_MS, done));
    } catch (error) {
      // Somebody else was faster.
      if ((error as KafkaFailure).code !== TOPIC_EXISTS) throw error;
    }
  }

  async lag(groupId: string, topics: readonly string[]): Promise<readonly PartitionLag[]> {
    const counts = await this.partitionsOf(topics);
    const ids = [...counts].flatMap(([topic, count]) =>
      Array.from({ length: count }, (_, partition) => ({ topic, partition })),
    );
    if (ids.length === 0) return [];
    const [begins, ends, committed] = await Promise.all([
      this.#offsets(ids, OLDEST),
      this.#offsets(ids, NEWEST),
      this.#committed(groupId),
    ]);
    return ids.map((id) => {
      const name = nameOf(id);
      const begin = begins.get(name) ?? 0;
      return { ...id, begin, end: ends.get(name) ?? begin, committed: committed.get(name) };
    });
  }

  async #offsets(ids: readonly PartitionId[], timestamp: number): Promise<ReadonlyMap<string, number>> {
    const wanted = ids.map((id) => ({ ...id, offset: { timestamp } }));
    const found = await this.#ask<readonly PartitionOffset[]>((admin, done) =>
      admin.listOffsets(wanted, { timeout: ANSWER_WITHIN_MS }, done),
    );
    return new Map(found.map((each) => [nameOf(each), each.offset]));
  }

  async #committed(groupId: string): Promise<ReadonlyMap<string, number>> {
    const [found] = await this.#ask<readonly GroupOffsets[]>((admin, done) =>
      admin.listConsumerGroupOffsets([{ groupId }], { timeout: ANSWER_WITHIN_MS }, done),
    );
    const offsets = new Map<string, number>();
    for (const each of found?.partitions ?? []) {
      if (typeof each.offset === 'number' && each.offset >= 0) offsets.set(nameOf(each), each.offset);
    }
    return offsets;
  }

  #ask<T>(
    request: (admin: Admin, done: (error: LibraryError | null | undefined, answer: T) => void) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      try {
        this.#admin ??= this.#library.AdminClient.create({ ...this.#settings.common }, { error: () => undefined });
        request(this.#admin, (error, answer) => (error ? reject(failureOf(error)) : resolve(answer)));
      } catch (error) {
        reject(failureOf(error));
      }
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#admin?.disconnect();
      this.#producer.disconnect(ANSWER_WITHIN_MS, () => resolve());
    });
  }
}

const UNKNOWN_TOPIC = 3;
const TOPIC_EXISTS = 36;
const NEWEST = -1;
const OLDEST = -2;
const ASSIGN = -175;
const MAX_POLL_EXCEEDED = -147;

interface Committing {
  readonly positions: readonly Position[];
  resolve(answer: 'done' | KafkaFailure): void;
}

class ConfluentMember implements Member {
  readonly #consumer: Consumer;
  readonly #wanted: Membership;
  readonly #system: System;
  #committing: Committing | undefined;
  #isLeaving = false;

  constructor(library: Confluent, { common, sessionTimeoutMs }: ConfluentSettings, wanted: Membership, system: System) {
    this.#wanted = wanted;
    this.#system = system;
    this.#consumer = new library.KafkaConsumer(
      {
        'max.poll.interval.ms': 300_000,
        'fetch.wait.max.ms': 50,
        'fetch.queue.backoff.ms': 10,
        'queued.min.messages': 10_000,
        'topic.metadata.refresh.interval.ms': 30_000,
        ...common,
        'group.id': wanted.groupId,
        'enable.auto.commit': false,
        'enable.auto.offset.store': false,
        'partition.assignment.strategy': 'cooperative-sticky',
        'session.timeout.ms': sessionTimeoutMs,
        'heartbeat.interval.ms': Math.max(100, Math.min(500, Math.floor(sessionTimeoutMs / 6))),
        rebalance_cb: (event: LibraryError, list: readonly PartitionId[]) => this.#rebalance(event, list),
        offset_commit_cb: true,
        // Undocumented; without it an idle consumer would hold a thread of the pool while it waits.
        queue_non_empty_cb: () => wanted.wake(),
      },
      { 'auto.offset.reset': 'earliest' },
    );
    this.#consumer.setDefaultConsumeTimeout(0);
    this.#consumer.setDefaultIsTimeoutOnlyForFirstMessage(true);
    this.#consumer.on('offset.commit', (error, list) => this.#answered(error, list));
    this.#consumer.on('rebalance.error', (error) => wanted.trouble(failureOf(error)));
    this.#consumer.on('event.error', (error) => wanted.trouble(failureOf(error)));
  }

  async open(timeoutMs: number): Promise<void> {
    await connected(this.#consumer, timeoutMs);
    this.#consumer.subscribe(this.#wanted.topics);
  }

  // --- partitions come and go ---------------------------------------------------------------------------------------

  #rebalance({ code }: LibraryError, list: readonly PartitionId[]): void {
    if (code === ASSIGN) void this.#assign(list);
    else this.#revoke(list);
  }

  /** Watermark and metadata are read before the first record flows. */
  async #assign(list: readonly PartitionId[]): Promise<void> {
    try {
      const assigned = list.length === 0 ? [] : await this.#read(list);
      if (this.#isLeaving) return;
      this.#wanted.assigned(assigned);
      const from = assigned.map(({ topic, partition, offset }) =>
        offset === undefined ? { topic, partition } : { topic, partition, offset },
      );
      this.#consumer.incrementalAssign(from);
    } catch (error) {
      this.#wanted.trouble(failureOf(error));
    }
  }

  async #read(list: readonly PartitionId[]): Promise<readonly Assigned[]> {
    for (;;) {
      try {
        const found = await this.#committed(list);
        return found.map(({ topic, partition, offset, metadata }) => ({
          topic,
          partition,
          offset: typeof offset === 'number' && offset >= 0 ? offset : undefined,
          metadata: metadata ?? undefined,
        }));
      } catch (error) {
        if (this.#isLeaving) throw error;
        this.#wanted.trouble(error as KafkaFailure);
        await new Promise<void>((resolve) => void this.#system.after(AGAIN_AFTER_MS, resolve));
      }
    }
  }

  #committed(
    list: readonly PartitionId[],
  ): Promise<readonly (PartitionId & { readonly offset?: number; readonly metadata?: string | null })[]> {
    return new Promise((resolve, reject) => {
      this.#consumer.committed(list, ANSWER_WITHIN_MS, (error, found) => {
        if (error) reject(failureOf(error));
        else resolve(found);
      });
    });
  }

  #revoke(list: readonly PartitionId[]): void {
    try {
      const isLost = this.#consumer.assignmentLost();
      this.#wanted.revoked(list, isLost, (positions) => {
        try {
          this.#consumer.commitSync(positions);
          return true;
        } catch (error) {
          this.#wanted.trouble(failureOf(error));
          return false;
        }
      });
      this.#consumer.incrementalUnassign(list);
    } catch (error) {
      this.#wanted.trouble(failureOf(error));
    }
  }

  // --- reading and committing ---------------------------------------------------------------------------------------

  poll(max: number): Promise<readonly KafkaRecord[]> {
    return new Promise((resolve, reject) => {
      this.#consumer.consume(max, (error, records) => {
        // n.b. said once after a loop that was blocked too long; the partitions are revoked with the same poll.
        if (error && error.code !== MAX_POLL_EXCEEDED) reject(failureOf(error));
        else resolve(error ? [] : records.map(recordOf));
      });
    });
  }

  /** n.b. the call only queues it; the answer comes as an event, while somebody polls. */
  commit(positions: readonly Position[]): Promise<'done' | KafkaFailure> {
    return new Promise((resolve) => {
      this.#committing = { positions, resolve };
      try {
        this.#consumer.commit(positions);
        this.#wanted.wake();
      } catch (error) {
        this.#committing = undefined;
        resolve(failureOf(error));
      }
    });
  }

  #answered(error: LibraryError | null | undefined, list: readonly Answered[]): void {
    const committing = this.#committing;
    if (committing === undefined || !isAbout(committing.positions, list)) return;
    this.#committing = undefined;
    this.#wanted.wake();
    const refused = error ?? list.find((each) => each.error)?.error;
    committing.resolve(refused ? failureOf(refused) : 'done');
  }

  pause(partitions: readonly PartitionId[]): void {
    this.#consumer.pause(partitions);
  }

  resume(partitions: readonly PartitionId[]): void {
    this.#consumer.resume(partitions);
  }

  leave(): Promise<void> {
    this.#isLeaving = true;
    this.#committing?.resolve(new KafkaFailure(-197, 'left the group'));
    this.#committing = undefined;
    return new Promise((resolve) => this.#consumer.disconnect(() => resolve()));
  }
}

/** Those of a revoke are answered too, and answers have an order of their own. */
function isAbout(positions: readonly Position[], list: readonly Answered[]): boolean {
  if (positions.length !== list.length) return false;
  return positions.every((ours) =>
    list.some(
      ({ topic, partition, offset }) =>
        partition === ours.partition && topic === ours.topic && (offset === undefined || offset === ours.offset),
    ),
  );
}

const NO_HEADERS: KafkaRecord['headers'] = Object.freeze([]);

function recordOf({ topic, partition, offset, timestamp, key, value, headers }: NativeRecord): KafkaRecord {
  return {
    topic,
    partition,
    offset,
    timestamp: timestamp ?? -1,
    key: bytesOf(key),
    value: value ?? null,
    headers: headers === undefined ? NO_HEADERS : headers.map(headerOf),
  };
}

function bytesOf(key: Buffer | string | null | undefined): Buffer | null {
  if (key === null || key === undefined) return null;
  return typeof key === 'string' ? Buffer.from(key) : key;
}

/** n.b. the client sets the name as a property, and one name sets a prototype instead. */
function headerOf(native: object): readonly [string, Buffer] {
  for (const [name, value] of Object.entries(native))
    return [name, Buffer.isBuffer(value) ? value : Buffer.from(value)];
  return ['__proto__', Buffer.from(Object.getPrototypeOf(native) as Uint8Array)];
}

/** n.b. an empty Buffer points nowhere, and would go out as null; this one has a byte that is not part of it. */
const EMPTY: Buffer = Buffer.allocUnsafeSlow(1).subarray(0, 0);

function solid(bytes: Uint8Array): Buffer;
function solid(bytes: Uint8Array | null): Buffer | null;
function solid(bytes: Uint8Array | null): Buffer | null {
  if (bytes === null) return null;
  if (bytes.length === 0) return EMPTY;
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function nameOf({ topic, partition }: PartitionId): string {
  return `${topic}/${partition}`;
}

function failureOf(error: unknown): KafkaFailure {
  if (error instanceof KafkaFailure) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const text = typeof message === 'string' ? message : String(error);
  return new KafkaFailure(typeof code === 'number' ? code : -196, text.slice(0, 500), error);
}
