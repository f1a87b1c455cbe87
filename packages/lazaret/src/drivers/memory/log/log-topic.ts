import type { Message } from '../../../core/message.ts';
import type { ServerClock } from '../server-clock.ts';

export interface LogRecord {
  readonly offset: number;
  /** Order over all partitions of the topic. */
  readonly sequence: number;
  readonly message: Message;
  readonly appendedAt: number;
  readonly dueAt: number;
}

/** Records in the order in which they were appended. Nothing is ever taken out. */
export class LogPartition {
  /** 'orders/2' */
  readonly id: string;
  readonly records: LogRecord[] = [];
  /** Called when something was appended. */
  readonly readers: Set<() => void> = new Set();

  constructor(id: string) {
    this.id = id;
  }
}

/** Messages of one key always go to the same partition; those without one to each in turn. */
export class LogTopic {
  readonly name: string;
  readonly partitions: readonly LogPartition[];
  readonly #clock: ServerClock;
  #sequence = 0;
  #turn = 0;

  constructor(name: string, partitions: number, clock: ServerClock) {
    this.name = name;
    this.partitions = Array.from({ length: partitions }, (_, index) => new LogPartition(`${name}/${index}`));
    this.#clock = clock;
  }

  append(message: Message, delayMs: number): void {
    const partition = this.partitions[this.#partitionOf(message.key)]!;
    const { records, readers } = partition;
    const appendedAt = this.#clock.now();
    const dueAt = appendedAt + delayMs;
    records.push({ offset: records.length, sequence: ++this.#sequence, message, appendedAt, dueAt });
    for (const notify of readers) notify();
  }

  records(): readonly LogRecord[] {
    return this.partitions.flatMap(({ records }) => records).sort((a, b) => a.sequence - b.sequence);
  }

  #partitionOf(key: string | undefined): number {
    return (key === undefined ? this.#turn++ : hash(key)) % this.partitions.length;
  }
}

/** FNV-1a over UTF-16 units. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
