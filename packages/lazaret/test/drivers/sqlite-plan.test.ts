import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../src/sqlite/binding.ts';
import { bury, message, one, pull, QUEUE, Scene, subscribe } from './sqlite-scene.ts';

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.end());

/** A database that notes every statement that is prepared on it. */
function noting(file: string): {
  readonly database: InstanceType<typeof DatabaseSync>;
  readonly noted: SqliteDatabase;
  readonly sql: Set<string>;
} {
  const database = new DatabaseSync(file);
  const sql = new Set<string>();
  const noted: SqliteDatabase = {
    prepare(text) {
      sql.add(text);
      return database.prepare(text);
    },
    exec: (text) => database.exec(text),
    close: () => database.close(),
  };
  return { database, noted, sql };
}

/** Small tables that may be read whole. */
const SMALL = /lazaret_(queues|sequence|components)/;

describe('the cost of a statement does not grow with the file', () => {
  it('since each finds its rows by an index, and sorts none', async () => {
    const { database, noted, sql } = noting(scene.file);
    const broker = await scene.broker({ database: noted });
    for (const order of ['none', 'key'] as const) {
      const subscription = await subscribe(broker, { order });
      await broker.publish(QUEUE, [message('a', { key: 'k', dedupeId: order }), message('b')]);
      await bury(subscription, await one(subscription), scene.system.now());
      await pull(subscription);
    }
    await broker.browse!(QUEUE, undefined, 10);
    await broker.letters.release(['1']);
    await broker.letters.list({ max: 1 });
    const statements = [...sql].filter((text) => /lazaret_/.test(text) && !/sqlite_master|min\(seq\)/.test(text));
    expect(statements.length).toBeGreaterThan(30);
    for (const text of statements) {
      const steps = (database.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[]).map(
        ({ detail }) => detail,
      );
      const dear = steps.filter(
        (step) =>
          (/^SCAN/.test(step) && !SMALL.test(step) && !/SUBQUERY|CONSTANT|^SCAN \(|\d-ROW/.test(step)) ||
          /TEMP B-TREE/.test(step),
      );
      expect(dear, `${text}\n${steps.join('\n')}`).toEqual([]);
    }
    database.close();
  });
});
