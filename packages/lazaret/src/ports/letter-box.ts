import type { Evidence } from '../core/evidence.ts';
import type { Message } from '../core/message.ts';
import type { Page } from './broker.ts';

/** A message that died, as it lies where its broker keeps it. */
export interface Letter {
  /** Of the letter; the message's own id stands in `message`. */
  readonly id: string;
  readonly queue: string;
  /** 'open', or 'released': put back into its queue, kept here for the record. */
  readonly state: 'open' | 'released';
  /** How often this message died: more than 1 where it was put back before. */
  readonly occurrence: number;
  readonly message: Message;
  readonly evidence: Evidence;
  /** How often it was handed out in all. */
  readonly deliveries: number;
}

export interface LetterQuery {
  /** Letters of this queue; of all queues, one after the other, where it is left out. */
  readonly queue?: string;
  /** `next` of the page before. */
  readonly after?: string;
  readonly max: number;
}

/** 'unknown': no letter of this id is open. Error: try again. */
export type ReleaseResult =
  | { readonly id: string; readonly result: 'released' }
  /** Released, but the letter `behind` of the same key is open and older: in a queue consumed in order it waits behind that one. */
  | { readonly id: string; readonly result: 'released'; readonly behind: string }
  | { readonly id: string; readonly result: 'unknown' }
  | { readonly id: string; readonly result: Error };

/** What a person or a tool does with the dead letters of a broker that keeps them itself, without a quarantine beside it. */
export interface LetterBox {
  /** Open letters, oldest death first within a queue. */
  list(query: LetterQuery): Promise<Page<Letter>>;
  /** Also one that was released. */
  show(id: string): Promise<Letter | undefined>;
  /** Puts letters back into their queues, as if they had never failed, in the place that their age gives them. Same order as `ids`. */
  release(ids: readonly string[]): Promise<readonly ReleaseResult[]>;
}
