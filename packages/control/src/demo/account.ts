import type { Book } from './ledger.ts';

/** Where the messages are, told from the ledger and from the queues, which know nothing of each other. */
export interface Account {
  readonly sent: number;
  readonly done: number;
  readonly quarantined: number;
  readonly queued: number;
  /** Sent, and nowhere to be found. */
  readonly missing: readonly string[];
  /** In more than one place. */
  readonly twice: readonly string[];
  /** In a queue or in the quarantine, though nobody sent them. */
  readonly strangers: readonly string[];
  /** Effects beyond the first of a message: its process died between the effect and the ack. */
  readonly repeated: number;
}

/** `letters` and `queued` are ids of messages. A message with an effect that lies nowhere any more is done. */
export function account(book: Book, letters: readonly string[], queued: readonly string[]): Account {
  const places = new Map<string, number>();
  for (const id of [...letters, ...queued]) places.set(id, (places.get(id) ?? 0) + 1);
  const placesOf = (id: string) => (places.get(id) ?? 0) + (book.effects.has(id) ? 1 : 0);
  const ids = [...book.sent.keys()];
  return {
    sent: ids.length,
    done: ids.filter((id) => book.effects.has(id) && !places.has(id)).length,
    quarantined: letters.length,
    queued: queued.length,
    missing: ids.filter((id) => placesOf(id) === 0),
    twice: ids.filter((id) => placesOf(id) > 1),
    strangers: [...places.keys()].filter((id) => !book.sent.has(id)),
    repeated: [...book.effects.values()].reduce((sum, count) => sum + count - 1, 0),
  };
}

export function isAccountedFor({ sent, done, quarantined, queued, missing, twice, strangers }: Account): boolean {
  return missing.length + twice.length + strangers.length === 0 && sent === done + quarantined + queued;
}
