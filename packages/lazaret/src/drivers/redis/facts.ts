import { LazaretError } from '../../core/errors.ts';
import { type Letter, letterOf } from '../../core/letter.ts';
import type { Message } from '../../core/message.ts';
import { shown } from '../../core/option-error.ts';
import type { Page, QueueFacts } from '../../ports/broker.ts';
import { messageOfEntry } from './entry.ts';
import { type Keys, listOf } from './keys.ts';
import { type Link, textOf } from './link.ts';
import { FACTS } from './scripts.ts';

type Entry = readonly [Uint8Array, readonly Buffer[]];

/** Reads about a queue that take nothing and count nothing. */
export class Facts {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  /** Of a stream that other groups read too, what they alone have left is counted as ready. */
  async of(keys: Keys): Promise<QueueFacts> {
    const answer = (await this.#link.explained(() => this.#link.run(FACTS, listOf(keys), []))) as unknown[];
    const [entries, inHand, ended, waiting, due, suspects, delayed, delayedDue, dead] = answer as number[];
    const oldest = Number(textOf(answer[9]).split('-', 1)[0]);
    const fresh = Math.max(0, entries! - inHand! - waiting! - suspects!);
    const ready = fresh + ended! + due! + suspects! + delayedDue!;
    return {
      ready,
      delayed: waiting! - due! + delayed! - delayedDue!,
      leased: inHand! - ended!,
      dead: dead!,
      ...(ready > 0 && oldest > 0 ? { oldestAt: oldest } : {}),
    };
  }

  async browse(stream: string, from: string | undefined, max: number): Promise<Page<Message>> {
    const { items, next } = await this.#page(stream, from, max);
    const messages = items.map(([id, fields]) => messageOfEntry(textOf(id), fields));
    return next === undefined ? { items: messages } : { items: messages, next };
  }

  async letters(stream: string, from: string | undefined, max: number): Promise<Page<Letter>> {
    const { items, ...rest } = await this.browse(stream, from, max);
    return { items: items.map(letterOf), ...rest };
  }

  async #page(stream: string, from: string | undefined, max: number): Promise<Page<Entry>> {
    const start = from === undefined ? '-' : `(${cursorOf(from)}`;
    const found = (await this.#link.explained(() =>
      this.#link.ask('XRANGE', stream, start, '+', 'COUNT', max + 1),
    )) as Entry[];
    const items = found.slice(0, max);
    const last = items.at(-1);
    return found.length <= max || last === undefined ? { items } : { items, next: textOf(last[0]) };
  }
}

/** The id of an entry. Throws LZ1003 for text that no page gave. */
function cursorOf(from: string): string {
  if (/^[0-9]{1,20}-[0-9]{1,20}$/.test(from)) return from;
  throw new LazaretError('LZ1003', `${shown(from)} is no place in a list.`, {
    hint: "Hand in the 'next' of an earlier page, or nothing for the first one.",
  });
}
