import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  adopt,
  BINDINGS,
  type BindingName,
  type Database,
  findBinding,
  loadBinding,
  openBinding,
  type Parameter,
  type SqliteDatabase,
} from '../../src/sqlite/binding.ts';
import { type BetterDatabase, fromBetterSqlite3 } from '../../src/sqlite/bindings/better-sqlite3.ts';
import { isBusy, isClosed, resultCode } from '../../src/sqlite/errors.ts';
import { loadText } from '../../src/sqlite/text.ts';

interface Candidate {
  readonly name: string;
  readonly open: ((file: string) => Database) | undefined;
  readonly why: string;
}

/** better-sqlite3 compiles, so it is installed beside the benchmarks only. */
const BENCH = fileURLToPath(new URL('../../../../bench/', import.meta.url));

const candidates: Candidate[] = [];
for (const name of BINDINGS) candidates.push(await candidateOf(name));
candidates.push(benchCandidate());

async function candidateOf(name: BindingName): Promise<Candidate> {
  const binding = await loadBinding(name);
  return 'absent' in binding
    ? { name, open: undefined, why: binding.absent }
    : { name, open: (file) => binding.open(file), why: '' };
}

function benchCandidate(): Candidate {
  const name = 'better-sqlite3 of bench/';
  if (!existsSync(join(BENCH, 'node_modules', 'better-sqlite3'))) {
    return { name, open: undefined, why: 'bench/ is not installed' };
  }
  const BetterSqlite3 = createRequire(join(BENCH, 'package.json'))('better-sqlite3') as new (
    file: string,
  ) => SqliteDatabase;
  try {
    new BetterSqlite3(':memory:').close();
  } catch (error) {
    return { name, open: undefined, why: String(error) };
  }
  return { name, open: (file) => fromBetterSqlite3(new BetterSqlite3(file) as BetterDatabase, name, true), why: '' };
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lazaret-binding-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TEXTS: readonly (readonly [string, string])[] = [
  ['plain', 'Straße 7, 東京, 🦉'],
  ['empty', ''],
  ['NUL at the start', '\0a'],
  ['NUL inside', 'a\0b'],
  ['NUL alone', '\0'],
  ['lone high surrogate', 'a\ud800b'],
  ['lone low surrogate', '\udc00'],
  ['surrogates in the wrong order', '\udc00\ud800'],
];

const EXACT: readonly (readonly [string, Parameter])[] = [
  ['null', null],
  ['a whole number', 42],
  ['the largest safe number', Number.MAX_SAFE_INTEGER],
  ['the smallest safe number', Number.MIN_SAFE_INTEGER],
  ['a fraction', 1.5],
];

const REFUSED: readonly (readonly [string, unknown])[] = [
  ['a boolean', true],
  ['undefined', undefined],
  ['NaN', Number.NaN],
  ['an object', { a: 1 }],
  ['a date', new Date(0)],
  ['an array buffer', new ArrayBuffer(2)],
];

for (const [index, { name, open, why }] of candidates.entries()) {
  if (open === undefined) console.info(`Skipped: SQLite through ${name} (${why})`);
  describe.skipIf(open === undefined)(`SQLite through ${name}${why === '' ? '' : ` (absent: ${why})`}`, () => {
    let file: string;
    let db: Database;
    let opened = 0;
    const opens: Database[] = [];
    const connect = () => {
      const another = open!(file);
      opens.push(another);
      return another;
    };
    const start = () => {
      file = join(folder, `${index}-${opened++}.db`);
      db = connect();
      db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, v, n INTEGER NOT NULL DEFAULT 1)');
    };
    const roundTrip = (value: Parameter) => {
      start();
      db.prepare('INSERT INTO t (v) VALUES (?)').run(value);
      return db.prepare('SELECT v FROM t').get()![0]!;
    };
    afterEach(() => {
      for (const another of opens.splice(0)) another.close();
    });

    it.each(TEXTS)('keeps text exactly: %s', (_, text) => {
      expect(loadText(roundTrip(text) as string | Uint8Array)).toBe(text);
    });

    it.each(TEXTS)('finds text by equality: %s', (_, text) => {
      roundTrip(text);
      expect(db.prepare('SELECT count(*) FROM t WHERE v = ?').get(text)).toEqual([1]);
    });

    it.each(EXACT)('keeps %s', (_, value) => {
      expect(roundTrip(value)).toBe(value);
    });

    it('keeps empty bytes apart from null, and a view apart from its buffer', () => {
      expect(roundTrip(new Uint8Array(0))).toHaveLength(0);
      expect([...(roundTrip(new Uint8Array([1, 2, 3, 4]).subarray(1, 3)) as Uint8Array)]).toEqual([2, 3]);
    });

    it('binds bigints, and reads them exactly where they are asked for', () => {
      start();
      db.prepare('INSERT INTO t (v) VALUES (?)').run(2n ** 53n + 1n);
      expect(db.prepare('SELECT v FROM t', { bigints: true }).get()).toEqual([2n ** 53n + 1n]);
    });

    it.each(REFUSED)('refuses %s', (_, value) => {
      start();
      const insert = db.prepare('INSERT INTO t (v) VALUES (?)');
      expect(() => insert.run(value as Parameter)).toThrowError(expect.objectContaining({ code: 'LZ1119' }));
      expect(db.prepare('SELECT count(*) FROM t').get()).toEqual([0]);
    });

    it('refuses a missing parameter and one too many, for every kind of call', () => {
      start();
      const insert = db.prepare("INSERT INTO t (id, v) VALUES (?, ?) -- a ? that's none");
      const select = db.prepare("SELECT '?', id FROM t WHERE id = ?");
      for (const call of [() => insert.run(1), () => insert.run(1, 2, 3), () => select.get(), () => select.all(1, 2)]) {
        expect(call).toThrowError(expect.objectContaining({ code: 'LZ1119' }));
      }
      expect(select.all(1)).toEqual([]);
    });

    it('tells how many rows changed', () => {
      start();
      const insert = db.prepare('INSERT INTO t (id) VALUES (?) ON CONFLICT DO NOTHING');
      expect([insert.run(1), insert.run(1), insert.run(2)]).toEqual([1, 0, 1]);
      expect(db.prepare('UPDATE t SET n = 2').run()).toBe(2);
    });

    it('answers rows as arrays, and nothing as undefined', () => {
      start();
      db.prepare('INSERT INTO t (id, v) VALUES (?, ?), (?, ?)').run(1, 'a', 2, 'b');
      expect(db.prepare('SELECT v, id FROM t ORDER BY id').all()).toEqual([
        ['a', 1],
        ['b', 2],
      ]);
      expect(db.prepare('SELECT v FROM t WHERE id = ?').get(3)).toBeUndefined();
    });

    it('tells a broken constraint from other errors', () => {
      start();
      db.exec('INSERT INTO t (id) VALUES (1)');
      const thrown = caught(() => db.prepare('INSERT INTO t (id) VALUES (?)').run(1));
      expect(resultCode(thrown)).toBe('CONSTRAINT');
      expect(isBusy(thrown)).toBe(false);
    });

    it('tells that another connection has the lock, and works on when it is free', () => {
      start();
      db.exec('PRAGMA journal_mode = WAL');
      const other = connect();
      other.exec('PRAGMA busy_timeout = 1');
      db.exec('BEGIN IMMEDIATE');
      expect(isBusy(caught(() => other.exec('BEGIN IMMEDIATE')))).toBe(true);
      expect(isBusy(caught(() => other.prepare('BEGIN IMMEDIATE').run()))).toBe(true);
      db.exec('COMMIT');
      other.exec('BEGIN IMMEDIATE');
      other.exec('ROLLBACK');
    });

    it('tells by data_version what another connection wrote, and not what its own did', () => {
      start();
      const version = db.prepare('PRAGMA data_version');
      const before = version.get();
      db.exec('INSERT INTO t (id) VALUES (1)');
      expect(version.get()).toEqual(before);
      connect().exec('INSERT INTO t (id) VALUES (2)');
      expect(version.get()).not.toEqual(before);
    });

    it('closes twice without harm, and says so to whoever comes later', () => {
      start();
      const select = db.prepare('SELECT 1');
      db.close();
      db.close();
      const thrown = caught(() => select.get());
      expect(isClosed(thrown)).toBe(true);
      expect(resultCode(thrown)).toBeUndefined();
    });
  });
}

describe.skipIf(candidates.filter(({ open }) => open !== undefined).length < 2)('two bindings on one file', () => {
  it.each(TEXTS)('read what the other wrote: %s', (_, text) => {
    const file = join(folder, `both-${Buffer.from(text, 'utf16le').toString('hex')}.db`);
    const [one, two] = candidates.flatMap(({ open }) => (open === undefined ? [] : [open(file)]));
    one!.exec('CREATE TABLE t (v TEXT)');
    one!.prepare('INSERT INTO t (v) VALUES (?)').run(text);
    expect(two!.prepare('SELECT count(*) FROM t WHERE v = ?').get(text)).toEqual([1]);
    expect(loadText(two!.prepare('SELECT v FROM t').get()![0] as string | Uint8Array)).toBe(text);
    one!.close();
    two!.close();
  });
});

describe('finding a binding', () => {
  it('takes the first one that is there', async () => {
    const present = candidates.find(({ open }) => open !== undefined)!;
    expect((await findBinding()).name).toBe(present.name);
  });

  it('opens with the one that is asked for', async () => {
    const db = await openBinding(join(folder, 'asked.db'), { binding: '@photostructure/sqlite' });
    expect(db.binding).toMatch(/^@photostructure\/sqlite 1\./);
    db.close();
  });

  const absent = candidates.find(({ name, open }) => open === undefined && BINDINGS.includes(name as BindingName));
  it.skipIf(absent === undefined)('names the install line where the wanted one is missing', async () => {
    await expect(findBinding(absent!.name as BindingName)).rejects.toMatchObject({
      code: 'LZ1118',
      message: expect.stringMatching(/npm install \S+@\d+/),
    });
  });

  it('knows an injected database by its shape, and refuses what is none', async () => {
    const { DatabaseSync } = await import('@photostructure/sqlite');
    const injected = new DatabaseSync(join(folder, 'injected.db'));
    const db = adopt(injected);
    expect(db.prepare('SELECT ? + 1').get(1)).toEqual([2]);
    db.close();
    expect(injected.isOpen).toBe(true);
    injected.close();
    for (const none of [{}, { prepare: () => ({}) }, null]) {
      expect(() => adopt(none as unknown as SqliteDatabase)).toThrowError(expect.objectContaining({ code: 'LZ1118' }));
    }
  });

  it('lets no warning of the platform through, and keeps those of others', async () => {
    const warnings: string[] = [];
    const printers = process.listeners('warning');
    process.removeAllListeners('warning');
    const note = (warning: Error) => void warnings.push(warning.message);
    process.on('warning', note);
    await loadBinding('node:sqlite');
    process.emitWarning('somebody else', 'ExperimentalWarning');
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    for (const printer of printers) process.on('warning', printer);
    expect(warnings).toEqual(['somebody else']);
  });
});

function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
