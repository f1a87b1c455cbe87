import { appendFileSync, readFileSync } from 'node:fs';

/**
 * What really happened, written down outside of the queues by those who did it: one file, one line per deed, shared by all
 * processes. A line is one append, so that lines of two processes do not mix.
 */
export interface Ledger {
  sent(queue: string, ids: readonly string[]): void;
  /** A handler began; `strikes` starts of the same message ended with their process before. */
  started(id: string, strikes: number): void;
  /** A handler did what it is there for. */
  effect(id: string): void;
}

/** What a ledger says. */
export interface Book {
  /** Every id that was sent, with its queue. */
  readonly sent: ReadonlyMap<string, string>;
  /** For each id the strikes that each of its starts saw. */
  readonly starts: ReadonlyMap<string, readonly number[]>;
  /** How often each id had its effect. */
  readonly effects: ReadonlyMap<string, number>;
}

export function openLedger(file: string): Ledger {
  const write = (...lines: readonly string[]) => appendFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return {
    sent: (queue, ids) => write(...ids.map((id) => `sent ${id} ${queue}`)),
    started: (id, strikes) => write(`started ${id} ${strikes}`),
    effect: (id) => write(`effect ${id}`),
  };
}

export function readLedger(file: string): Book {
  return parseLedger(readFileSync(file, 'utf8'));
}

export function parseLedger(text: string): Book {
  const sent = new Map<string, string>();
  const starts = new Map<string, readonly number[]>();
  const effects = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [deed, id = '', detail = ''] = line.split(' ');
    if (deed === 'sent') sent.set(id, detail);
    else if (deed === 'started') starts.set(id, [...(starts.get(id) ?? []), Number(detail)]);
    else if (deed === 'effect') effects.set(id, (effects.get(id) ?? 0) + 1);
  }
  return { sent, starts, effects };
}
