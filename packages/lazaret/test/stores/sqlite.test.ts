import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { openBinding } from '../../src/sqlite/binding.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { journalContract, seen } from '../../src/testing/journal-contract.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';

const DAY_MS = 24 * 3_600_000;

journalContract({
  name: 'sqlite',
  test,
  async open() {
    const folder = mkdtempSync(join(tmpdir(), 'lazaret-journal-'));
    const system = new ManualSystem();
    const driver = sqliteStore({ file: join(folder, 'journal.db') });
    return {
      connect: () => driver.connect(system),
      pass: (ms) => system.advance(ms),
      leaseMs: 1_000,
      close: async () => rmSync(folder, { recursive: true }),
    };
  },
});

describe('a journal in an SQLite file', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lazaret-journal-'));
    file = join(folder, 'journal.db');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function rows(): Promise<number> {
    const db = await openBinding(file);
    const [count] = db.prepare('SELECT count(*) FROM lazaret_journal').get()!;
    db.close();
    return count as number;
  }

  it('forgets what was not touched for longer than its retention, in batches, and nothing else', async () => {
    const system = new ManualSystem();
    const store = await sqliteStore({ file, retention: '2d' }).connect(system);
    const journal = store.journal('one', undefined);
    const start = (id: string) => ({ delivery: seen(id), alone: false });
    await journal.begin(Array.from({ length: 1_200 }, (_, n) => start(`old-${n}`)));
    await system.advance(2 * DAY_MS);
    await journal.begin([start('young')]);
    expect(await rows()).toBe(1_201);
    await system.advance(1.1 * DAY_MS);
    expect(await rows()).toBe(1);
    await store.close();
  });

  it('keeps what it knows for whoever opens it next', async () => {
    const system = new ManualSystem();
    const first = await sqliteStore({ file }).connect(system);
    const journal = first.journal('one', undefined);
    const [history] = await journal.begin([{ delivery: seen('a'), alone: false }]);
    await journal.end([{ delivery: seen('a'), as: 'charged', token: history!.token! }]);
    await first.close();
    const next = await sqliteStore({ file }).connect(system);
    const [again] = await next
      .journal('two', undefined)
      .begin([{ delivery: seen('a', { deliveries: 2 }), alone: false }]);
    expect(again).toMatchObject({ attempt: 2, begun: true });
    await next.close();
  });

  it('begins nothing, and says why, while another connection keeps the file locked', async () => {
    const system = new ManualSystem();
    const store = await sqliteStore({ file, lockTimeout: '500ms' }).connect(system);
    const other = await openBinding(file);
    other.exec('BEGIN IMMEDIATE');
    const begun = store.journal('one', undefined).begin([{ delivery: seen('a'), alone: false }]);
    const told = expect(begun).rejects.toMatchObject({ code: 'LZ1117' });
    await system.advance(2_000);
    await told;
    other.exec('ROLLBACK');
    other.close();
    expect(await rows()).toBe(0);
    await store.close();
  });

  it.each([
    [{}, 'LZ1003'],
    [{ file: ':memory:' }, 'LZ1003'],
    [{ file: 'a.db', retentoin: '1d' }, 'LZ1001'],
    [{ file: 'a.db', retention: 5 }, 'LZ1042'],
    [{ file: 'a.db', binding: 'sql.js' }, 'LZ1003'],
  ])('refuses the options %j', (options, code) => {
    expect(() => sqliteStore(options as never)).toThrow(expect.objectContaining({ code }));
  });
});
