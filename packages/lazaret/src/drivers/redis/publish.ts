import { HEADER } from '../../core/headers.ts';
import { headerText, NO_HEADERS } from '../../core/message.ts';
import { checkMessage } from '../../core/stored-message.ts';
import type { OutgoingMessage, PublishResult } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import { CAPABILITIES } from './capabilities.ts';
import { fieldsOf } from './entry.ts';
import { explained, replyCode, wasNotSent } from './errors.ts';
import { type Keys, listOf } from './keys.ts';
import type { Link, Value } from './link.ts';
import { PUBLISH } from './scripts.ts';

/** Messages of one script: it holds the server meanwhile. */
const TOGETHER = 100;

/** Storing messages. */
export class Publishing {
  readonly #link: Link;
  readonly #system: System;
  readonly #dedupeWindowMs: number;

  constructor(link: Link, system: System, dedupeWindowMs: number) {
    this.#link = link;
    this.#system = system;
    this.#dedupeWindowMs = dedupeWindowMs;
  }

  /** One result per message, in their order. Never rejects. */
  async publish(keys: Keys, messages: readonly OutgoingMessage[], delayMs: number): Promise<readonly PublishResult[]> {
    const results: PublishResult[] = messages.map(refusalOf);
    const fit = messages.flatMap((_, at) => (results[at] === 'done' ? [at] : []));
    const isPlain = delayMs === 0 && fit.every((at) => messages[at]!.dedupeId === undefined);
    if (isPlain) await Promise.all(fit.map((at) => this.#add(keys, messages[at]!, (result) => (results[at] = result))));
    else {
      for (let from = 0; from < fit.length; from += TOGETHER) {
        const chunk = fit.slice(from, from + TOGETHER);
        const result = await this.#addLater(
          keys,
          chunk.map((at) => messages[at]!),
          delayMs,
        );
        for (const at of chunk) results[at] = result;
      }
    }
    return results;
  }

  /** n.b. commands of one turn travel in one write, each with an answer of its own. */
  async #add({ stream }: Keys, message: OutgoingMessage, tell: (result: PublishResult) => void): Promise<void> {
    try {
      await this.#link.ask('XADD', stream, '*', ...fieldsOf(message, this.#idOf(message)));
    } catch (error) {
      tell(this.#resultOf(error));
    }
  }

  async #addLater(keys: Keys, messages: readonly OutgoingMessage[], delayMs: number): Promise<PublishResult> {
    const values: Value[] = [delayMs, this.#dedupeWindowMs, keys.dedupe, messages.length];
    for (const message of messages) {
      const fields = fieldsOf(message, this.#idOf(message));
      values.push(this.#system.id(), message.dedupeId ?? '', fields.length, ...fields);
    }
    try {
      await this.#link.run(PUBLISH, listOf(keys), values);
      return 'done';
    } catch (error) {
      return this.#resultOf(error);
    }
  }

  #idOf({ id, headers = NO_HEADERS }: OutgoingMessage): string {
    return id ?? headerText(headers, HEADER.id) ?? this.#system.id();
  }

  #resultOf(error: unknown): PublishResult {
    if (replyCode(error) === undefined && !wasNotSent(error)) return 'unknown';
    return explained(error, this.#link.place);
  }
}

/** Why a message cannot be stored, or 'done' for one that is only to be. */
function refusalOf(message: OutgoingMessage): PublishResult {
  try {
    checkMessage(message, CAPABILITIES.headerBudgetBytes);
    return 'done';
  } catch (error) {
    return error as Error;
  }
}
