import type { Capabilities, Evidence, Message, Page, QueueFacts } from 'lazaret';

/** What operations work on. `main.ts` hands it in; an operation never learns where it comes from. */
export interface Services {
  /** Every queue there is, by name. */
  queues(): Promise<readonly Queue[]>;
  capabilities(queue: string): Promise<Capabilities>;
  readonly letters: Letters;
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
