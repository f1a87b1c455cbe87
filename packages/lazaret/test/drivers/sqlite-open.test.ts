import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sqlite } from '../../src/drivers/sqlite/index.ts';
import { readOptions, type SqliteOptions } from '../../src/drivers/sqlite/options.ts';
import { BROKER } from '../../src/drivers/sqlite/schema.ts';
import type { Database } from '../../src/sqlite/binding.ts';
import { APPLICATION_ID } from '../../src/sqlite/component.ts';
import { explained } from '../../src/sqlite/errors.ts';
import { judgeFileSystem } from '../../src/sqlite/network-file-system.ts';
import { openDatabase } from '../../src/sqlite/open.ts';
import { message, pull, QUEUE, Scene, subscribe, textOf } from './sqlite-scene.ts';

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.end());

/** What is told to people: the file, what to do, and nothing of SQL or of the binding. */
function told(code: string, file: string, ...words: readonly string[]) {
  const all = [file, ...words].map((word) => expect.stringContaining(word));
  return {
    code,
    message: expect.toSatisfy(
      (text: string) => all.every((one) => one.asymmetricMatch(text)) && !/SQLITE_|SELECT|PRAGMA/.test(text),
    ),
  };
}

const withDatabase = (work: (db: InstanceType<typeof DatabaseSync>) => void) => {
  const db = new DatabaseSync(scene.file);
  work(db);
  db.close();
};

describe('opening', () => {
  it('creates the file, and finds again what was stored', async () => {
    const first = await scene.broker();
    await first.publish(QUEUE, [message('a')]);
    await first.close();
    const again = await scene.broker();
    expect((await pull(await subscribe(again))).map(textOf)).toEqual(['a']);
  });

  it('moves the write-ahead log into the file while nobody writes', async () => {
    const broker = await scene.broker();
    await broker.publish(QUEUE, [message('a')]);
    await scene.system.advance(1_000);
    const copy = await scene.broker({ file: unopened() });
    expect((await pull(await subscribe(copy))).map(textOf)).toEqual(['a']);
  });

  it('leaves everything in the file itself when it is closed', async () => {
    const broker = await scene.broker();
    await broker.publish(QUEUE, [message('a')]);
    await broker.close();
    const log = `${scene.file}-wal`;
    expect(existsSync(log) ? statSync(log).size : 0).toBe(0);
    const copy = await scene.broker({ file: unopened() });
    expect((await pull(await subscribe(copy))).map(textOf)).toEqual(['a']);
  });

  it('takes an empty file for a new one', async () => {
    writeFileSync(scene.file, '');
    const broker = await scene.broker();
    expect(await broker.queues()).toEqual([]);
  });

  it('leaves its mark in the header, by which other tools can tell the file', async () => {
    await scene.broker();
    const db = await scene.stranger();
    expect(db.prepare('PRAGMA application_id').get()).toEqual([APPLICATION_ID]);
  });

  it('lets several open a new file at the same time', async () => {
    const opening = Promise.all([scene.broker(), scene.broker(), scene.broker()]);
    const [one, , three] = await passing(opening);
    await one!.publish(QUEUE, [message('a')]);
    expect((await pull(await subscribe(three!))).map(textOf)).toEqual(['a']);
  });

  it('lies beside the tables of an injected database, and leaves its header alone', async () => {
    const database = new DatabaseSync(scene.file);
    database.exec('CREATE TABLE messages (theirs); CREATE TABLE queues (theirs); PRAGMA application_id = 77');
    const broker = await scene.broker({ database });
    await broker.publish(QUEUE, [message('a')]);
    expect((await pull(await subscribe(broker))).map(textOf)).toEqual(['a']);
    expect(database.prepare('PRAGMA application_id').get()).toEqual({ application_id: 77 });
    database.close();
  });

  it('is done by a driver, once the app hands in its System', async () => {
    const driver = sqlite({ file: scene.file });
    expect(driver.name).toBe('sqlite');
    const broker = await driver.connect(scene.system);
    expect(await broker.publish(QUEUE, [message('a')])).toEqual(['done']);
    expect(await broker.inspect(QUEUE)).toMatchObject({ oldestAt: scene.system.now() });
    await broker.close();
  });
});

describe('refuses', () => {
  it('a file that is no database', async () => {
    writeFileSync(scene.file, 'order;customer;total\n'.repeat(500));
    await expect(scene.broker()).rejects.toMatchObject(told('LZ1110', scene.file, 'not an SQLite database'));
    expect(readFileSync(scene.file, 'utf8')).toMatch(/^order;customer/);
  });

  it('a damaged database, at the latest when the damage is met', async () => {
    const broker = await scene.broker();
    await broker.publish(
      QUEUE,
      Array.from({ length: 500 }, (_, i) => message(`${i}`, { key: `k${i}` })),
    );
    await broker.close();
    const file = unopened();
    const { size } = statSync(file);
    const handle = openSync(file, 'r+');
    for (let at = 4_096; at < size; at += 4_096) writeSync(handle, Buffer.alloc(64, 0xff), 0, 64, at);
    closeSync(handle);
    const meet = async () => pull(await subscribe(await scene.broker({ file })));
    await expect(meet()).rejects.toMatchObject(told('LZ1111', file, 'damaged', 'backup'));
  });

  it.each([
    ['tables of its own', 'CREATE TABLE users (id)', 'users'],
    ['an application id of its own', 'PRAGMA application_id = 252006673', '252006673'],
  ])('a database of something else, with %s', async (_, sql, shown) => {
    withDatabase((db) => db.exec(sql));
    await expect(scene.broker()).rejects.toMatchObject(told('LZ1112', scene.file, shown, 'of its own'));
    withDatabase((db) =>
      expect(db.prepare("SELECT count(*) AS n FROM sqlite_master WHERE name LIKE 'lazaret%'").get()).toEqual({ n: 0 }),
    );
  });

  it.each([
    [99, 'Update Lazaret'],
    [0, 'Drain it'],
  ])('a schema of version %d', async (version, todo) => {
    await (await scene.broker()).close();
    withDatabase((db) => db.exec(`UPDATE lazaret_components SET version = ${version}`));
    await expect(scene.broker()).rejects.toMatchObject(told('LZ1113', scene.file, String(version), todo));
  });

  it('a folder that is not there, and creates none', async () => {
    const file = join(scene.folder, 'nowhere', 'test.db');
    await expect(scene.broker({ file })).rejects.toMatchObject(
      told('LZ1114', file, 'does not exist', 'Create the folder'),
    );
    expect(() => statSync(join(scene.folder, 'nowhere'))).toThrow('ENOENT');
  });

  it('a folder in the place of the file, and a file in the place of the folder', async () => {
    await expect(scene.broker({ file: scene.folder })).rejects.toMatchObject(
      told('LZ1114', scene.folder, 'is a folder'),
    );
    writeFileSync(scene.file, '');
    const below = join(scene.file, 'test.db');
    await expect(scene.broker({ file: below })).rejects.toMatchObject(told('LZ1114', below, 'is no folder'));
  });

  it.each([
    ['a file that may not be written', 0o444, 0o777],
    ['a folder that may not be written', 0o666, 0o555],
  ])('%s', async (_, fileMode, folderMode) => {
    await (await scene.broker()).close();
    const file = unopened();
    chmodSync(file, fileMode);
    chmodSync(scene.folder, folderMode);
    let refused: unknown;
    await asNobody(async () => {
      refused = await scene.broker({ file }).catch((error: unknown) => error);
    });
    chmodSync(scene.folder, 0o777);
    expect(refused).toMatchObject(told('LZ1114', file, 'right to write'));
  });

  it('a database that stays locked', async () => {
    await (await scene.broker()).close();
    const stranger = await scene.stranger();
    stranger.exec('BEGIN EXCLUSIVE');
    const opening = expect(scene.broker({ lockTimeout: '2s' })).rejects.toMatchObject(
      told('LZ1117', scene.file, 'locked'),
    );
    await passing(opening);
  });

  it('a disk without room for the tables', async () => {
    const database = new DatabaseSync(scene.file);
    database.exec('CREATE TABLE theirs (x); PRAGMA max_page_count = 3');
    await expect(scene.broker({ database })).rejects.toMatchObject({ code: 'LZ1115' });
    database.exec('PRAGMA max_page_count = 1000');
    expect(await (await scene.broker({ database })).queues()).toEqual([]);
    database.close();
  });
});

describe('a network file system', () => {
  const NFS = 0x6969;
  const open = (type: number, options: SqliteOptions = {}) =>
    openDatabase(readOptions({ file: scene.file, ...options }), scene.system, BROKER, () => type);
  const opened: Database[] = [];
  afterEach(() => {
    for (const db of opened.splice(0)) db.close();
  });

  it.each([
    ['NFS', NFS, 'network'],
    ['SMB', 0x517b, 'network'],
    ['CIFS', 0xff534d42, 'network'],
    ['CIFS, as a signed number', 0xff534d42 | 0, 'network'],
    ['SMB2', 0xfe534d42, 'network'],
    ['FUSE', 0x65735546, 'doubtful'],
    ['ext4', 0xef53, 'fine'],
    ['tmpfs', 0x01021994, 'fine'],
    ['what reports nothing', 0, 'fine'],
  ])('is judged by its magic number: %s', (_, type, verdict) => {
    expect(judgeFileSystem(type)).toMatchObject({ verdict });
  });

  it('is refused, unless it is allowed; then it is remarked', async () => {
    await expect(open(NFS)).rejects.toMatchObject(
      told('LZ1116', scene.file, 'NFS', 'local disk', 'allowNetworkFileSystem'),
    );
    const { db, warnings } = await open(NFS, { allowNetworkFileSystem: true });
    opened.push(db);
    expect(warnings).toEqual([expect.stringContaining('NFS')]);
  });

  it('is only remarked where it may be none', async () => {
    const { db, warnings } = await open(0x65735546);
    opened.push(db);
    expect(warnings).toEqual([expect.stringContaining('FUSE')]);
  });
});

describe('options', () => {
  const file = './x.db';
  const database = { prepare: () => ({}), exec: () => {}, close: () => {} };
  it.each([
    ['LZ1001', { file, letterRetenton: '3d' }, "Did you mean 'letterRetention'?"],
    ['LZ1002', {}, 'file'],
    ['LZ1002', { file: '' }, 'file'],
    ['LZ1002', { file: 7 }, 'file'],
    ['LZ1003', { file: ':memory:' }, 'memory driver'],
    ['LZ1003', { file: 'file:x.db?mode=ro' }, 'plain path'],
    ['LZ1003', { file, binding: 'sqlite3' }, 'node:sqlite'],
    ['LZ1004', { file, database }, "Leave out 'file'"],
    ['LZ1042', { file, letterRetention: 30 }, 'letterRetention'],
    ['LZ1043', { file, lockTimeout: 'soon' }, 'lockTimeout'],
  ])('are checked: %s for %j', (code, options, words) => {
    expect(() => readOptions(options as SqliteOptions)).toThrowError(
      expect.objectContaining({ code, message: expect.stringContaining(words) }),
    );
  });
});

it('explains what it does not know with the words of the binding, and keeps the error', () => {
  const error = Object.assign(new Error('abort due to\nROLLBACK'), { errcode: 4 });
  expect(explained(error, '/x.db')).toMatchObject({
    code: 'LZ1120',
    message: expect.stringContaining('abort due to'),
    cause: error,
  });
});

/** A copy of the file alone, without its log, since some bindings keep a closed file open until their statements are collected. */
function unopened(): string {
  const file = join(scene.folder, 'copy.db');
  copyFileSync(scene.file, file);
  return file;
}

/** Opening does real I/O too, which no manual clock waits for: time goes on until it is through. */
async function passing<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  while (!isOver) await scene.system.advance(50);
  return work;
}

/** Root may write everywhere, so whoever runs this as root gives it up for a moment. */
async function asNobody(work: () => Promise<unknown>): Promise<void> {
  const nobody = 65_534;
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) {
    process.setegid!(nobody);
    process.seteuid!(nobody);
  }
  try {
    await work();
  } finally {
    if (isRoot) {
      process.seteuid!(0);
      process.setegid!(0);
    }
  }
}
