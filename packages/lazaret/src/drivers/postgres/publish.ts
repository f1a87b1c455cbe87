import { HEADER, readAttempt, readTime } from '../../core/headers.ts';
import { headerText, NO_HEADERS } from '../../core/message.ts';
import { checkMessage, storeHeaders, storeNative } from '../../core/stored-message.ts';
import type { OutgoingMessage, PublishResult } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import { CAPABILITIES } from './capabilities.ts';
import type { Database } from './database.ts';
import { explained, isUnfit, Unsent, wasAnswered } from './errors.ts';
import { storeText } from './text.ts';

/** Attempts are clamped to the consumer's maximum when they are handed out; this only keeps the number small. */
const HIGHEST_ATTEMPT = 1_000_000;
/** No due time that a header carries is believed to lie further ahead. */
const FURTHEST_MS = 400 * 24 * 3_600_000;
/** Rows of one statement, largest first: each size is a statement of its own, so that there are few. */
const SIZES = [100, 10, 1] as const;
const PARAMETERS_OF_ROW = 9;
const PARAMETERS_OF_ALL = 3;

/** Storing messages. */
export class Publishing {
  readonly #database: Database;
  readonly #system: System;
  readonly #dedupeWindowMs: number;
  readonly #texts: ReadonlyMap<number, string>;

  constructor(database: Database, system: System, dedupeWindowMs: number) {
    this.#database = database;
    this.#system = system;
    this.#dedupeWindowMs = dedupeWindowMs;
    this.#texts = new Map(SIZES.map((size) => [size, insertOf(size, database.schema)]));
  }

  /** One result per message, in their order. Never rejects. */
  async publish(
    queue: number,
    messages: readonly OutgoingMessage[],
    delayMs: number,
  ): Promise<readonly PublishResult[]> {
    const results: PublishResult[] = messages.map(refusalOf);
    const fit = messages.flatMap((_, at) => (results[at] === 'done' ? [at] : []));
    for (let from = 0; from < fit.length; ) {
      const size = SIZES.find((most) => most <= fit.length - from)!;
      const chunk = fit.slice(from, from + size);
      from += size;
      await this.#store(queue, messages, chunk, delayMs, results);
    }
    return results;
  }

  async #store(
    queue: number,
    messages: readonly OutgoingMessage[],
    chunk: readonly number[],
    delayMs: number,
    results: PublishResult[],
  ): Promise<void> {
    const values: unknown[] = [queue, delayMs, this.#dedupeWindowMs];
    for (const at of chunk) this.#addRow(values, messages[at]!);
    try {
      await this.#database.ask(`publish_${chunk.length}`, this.#texts.get(chunk.length)!, values);
    } catch (error) {
      if (isUnfit(error) && chunk.length > 1) {
        // Which of them it is shows only one by one.
        for (const at of chunk) await this.#store(queue, messages, [at], delayMs, results);
        return;
      }
      const result = wasAnswered(error) || error instanceof Unsent ? explained(error, this.#database.place) : 'unknown';
      for (const at of chunk) results[at] = result;
    }
  }

  #addRow(values: unknown[], message: OutgoingMessage): void {
    const { body, headers = NO_HEADERS, key, dedupeId } = message;
    const now = this.#system.now();
    values.push(
      readAttempt(headers, HIGHEST_ATTEMPT),
      readTime(headers, HEADER.firstSeen, 0, now) ?? null,
      readTime(headers, HEADER.notBefore, now, now + FURTHEST_MS) ?? null,
      storeText(message.id ?? headerText(headers, HEADER.id) ?? this.#system.id()),
      key === undefined ? null : storeText(key),
      storeHeaders(headers),
      storeNative(message.native),
      body,
      dedupeId === undefined ? null : storeText(dedupeId),
    );
  }
}

/** n.b. parameters and not arrays: bodies then travel as bytes, and not as twice as much text. */
function insertOf(size: number, schema: string): string {
  const rows = Array.from({ length: size }, (_, row) => {
    const first = PARAMETERS_OF_ALL + row * PARAMETERS_OF_ROW + 1;
    const types = ['int', 'bigint', 'bigint', 'text', 'text', 'text', 'text', 'bytea', 'text'];
    return `(${types.map((type, at) => `$${first + at}::${type}`).join(', ')})`;
  });
  return `
    INSERT INTO ${schema}.messages (queue, visible_at, attempt, first_seen, not_before, id, key, headers, native, body)
    SELECT $1::int, (SELECT ${schema}.clock_1()) + $2::bigint, v.attempt, coalesce(v.first_seen, (SELECT ${schema}.clock_1())),
      v.not_before, v.id, v.key, v.headers, v.native, v.body
    FROM (VALUES ${rows.join(', ')}) AS v (attempt, first_seen, not_before, id, key, headers, native, body, dedupe)
    WHERE CASE WHEN v.dedupe IS NULL THEN $3::bigint IS NOT NULL ELSE ${schema}.remember_1($1::int, v.dedupe, $3::bigint) END`;
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
