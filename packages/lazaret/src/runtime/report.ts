import type { StormChange } from '../core/storm/changes.ts';
import type { Delivery, Settlement } from '../ports/broker.ts';
import type { System } from '../ports/system.ts';
import type { Announcer, Events, MessageEvent } from './events.ts';
import { whyOf } from './evidence-of.ts';
import type { Counts } from './health.ts';
import type { Run } from './run.ts';

/** Deliveries that neither failures nor strikes explain, from which it is worth telling. */
const UNACCOUNTED = 10;

/** What happens to the messages of one queue, counted and told. A settlement is told when the broker has confirmed it. */
export class Report {
  readonly #queue: string;
  readonly #events: Announcer;
  readonly #system: System;
  readonly #counts = { done: 0, retried: 0, released: 0, quarantined: 0, lost: 0 };
  #lastSettleAt: number | undefined;

  constructor(queue: string, events: Announcer, system: System) {
    this.#queue = queue;
    this.#events = events;
    this.#system = system;
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** Epoch milliseconds. */
  get lastSettleAt(): number | undefined {
    return this.#lastSettleAt;
  }

  arrived(delivery: Delivery): void {
    const { message, source, attempt, strikes = 0, deliveries = 0 } = delivery;
    if (deliveries - attempt - strikes <= UNACCOUNTED) return;
    this.#events.tell('unaccounted-deliveries', { queue: source.queue, id: message.id, attempt, deliveries });
  }

  runningAlone(run: Run): void {
    this.#events.tell('running-alone', { ...about(run), strikes: run.delivery.strikes ?? 0 });
  }

  settled(run: Run, settlement: Settlement): void {
    this.#lastSettleAt = this.#system.now();
    switch (settlement.verb) {
      case 'ack':
        this.#counts.done++;
        if (this.#events.heard('done')) this.#events.tell('done', { ...about(run), ...skipped(run) });
        return;
      case 'retry':
        this.#counts.retried++;
        this.#retrying(run, settlement.delayMs, false);
        return;
      case 'release':
        this.#counts.released++;
        if (!this.#events.heard('released')) return;
        this.#events.tell('released', {
          ...about(run),
          delayMs: settlement.delayMs,
          why: whyOfRun(run),
          ...(run.uncharged === '' ? {} : { spared: run.uncharged }),
        });
        return;
      case 'deadLetter': {
        this.#counts.quarantined++;
        if (!this.#events.heard('quarantined')) return;
        const { reason, why, fingerprint } = settlement.evidence;
        this.#events.tell('quarantined', { ...about(run), reason, why, fingerprint });
        return;
      }
      case 'hold':
        if (settlement.charged) this.#counts.retried++;
        return;
    }
  }

  /** Told at once: what comes next happens here. */
  held(run: Run, delayMs: number): void {
    this.#retrying(run, delayMs, true);
  }

  lost(run: Run, why: string): void {
    this.#counts.lost++;
    this.#events.tell('lease-lost', { ...about(run), why });
  }

  abandoned(run: Run, abandoned: number, reason: Error): void {
    this.#events.tell('abandoned', { ...about(run), abandoned, why: reason.message });
  }

  storm({ what, ...change }: StormChange): void {
    if (this.#events.heard(what)) this.#events.tell(what, { queue: this.#queue, ...change } as never);
  }

  trouble(verb: Events['trouble']['verb'], error: Error): void {
    this.#events.tell('trouble', { queue: this.#queue, verb, error });
  }

  #retrying(run: Run, delayMs: number, held: boolean): void {
    if (!this.#events.heard('retrying')) return;
    const { outcome } = run;
    const rule =
      outcome?.kind === 'failed' || outcome?.kind === 'timeout' ? outcome.failure.rule : (outcome?.kind ?? '');
    this.#events.tell('retrying', { ...about(run), delayMs, held, why: whyOfRun(run), rule });
  }
}

function about({ delivery }: Run): MessageEvent {
  return { queue: delivery.source.queue, id: delivery.message.id, attempt: delivery.attempt };
}

function skipped({ outcome }: Run): { skipped?: string } {
  return outcome?.kind === 'skip' ? { skipped: outcome.why } : {};
}

function whyOfRun({ outcome, uncharged }: Run): string {
  const why = outcome === undefined ? '' : whyOf(outcome);
  return uncharged === '' ? why : `${why} (not charged: ${uncharged})`;
}
