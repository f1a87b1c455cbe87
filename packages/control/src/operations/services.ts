import type { Capabilities, Evidence, Message, Page, QueueFacts, StandingOrder } from 'lazaret';
import type { Chronicle } from 'lazaret/core';

/** What operations work on. `main.ts` hands it in; an operation never learns where it comes from. */
export interface Services {
  /** Every queue there is, by name. */
  queues(): Promise<readonly Queue[]>;
  capabilities(queue: string): Promise<Capabilities>;
  readonly letters: Letters;
  readonly storm: Storms;
  /** Who stands at the face, for what is set by hand. */
  readonly person: string;
  /** Epoch milliseconds. */
  now(): number;
  /** Tells whoever waits how far long work has come. */
  progress(done: number, total: number): void;
}

export interface Queue {
  readonly name: string;
  readonly facts: QueueFacts;
}

export interface Letters {
  /** Open letters, oldest death first within a queue. A page may be shorter than `max` and still not be the last one. */
  list(query: LetterQuery): Promise<Page<Letter>>;
  /** Also one that was released. */
  show(id: string): Promise<Letter | undefined>;
  /** Open letters whose message's id is `text` or, where there are none, begins with it; at most `max`. */
  find(text: string, max: number): Promise<readonly Letter[]>;
  /** Puts letters back into their queues. Same order as `ids`. */
  release(ids: readonly string[]): Promise<readonly Release[]>;
}

/** Storm control, as far as processes and people tell of it. */
export interface Storms {
  /** Same order as `queues`. */
  look(queues: readonly string[]): Promise<readonly Storm[]>;
  /** Every process of the queue follows within two seconds. One whose end has come lifts what it would take the place of. */
  give(queue: string, order: StandingOrder): Promise<void>;
}

export interface Storm {
  /** What people set; also what is over. */
  readonly orders: readonly StandingOrder[];
  /** Also of processes that are gone. */
  readonly chronicle: Chronicle;
}

export interface LetterQuery {
  readonly queue?: string;
  readonly reason?: string;
  /** `next` of the page before. */
  readonly after?: string;
  readonly max: number;
}

/** A message that died. */
export interface Letter {
  /** Of the letter; the message's own id stands in `message`. */
  readonly id: string;
  readonly queue: string;
  readonly state: 'open' | 'released';
  /** How often this message died: more than 1 where it was put back before. */
  readonly occurrence: number;
  readonly message: Message;
  readonly evidence: Evidence;
  /** How often it was handed out in all. */
  readonly deliveries: number;
}

/** `behind`: an older letter of the same key is still open; a queue consumed in order waits for that one. */
export interface Release {
  readonly result: 'released' | 'unknown' | Error;
  readonly behind?: string;
}
