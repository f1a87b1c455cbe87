import { createRequire } from 'node:module';
import { LazaretError } from '../core/errors.ts';
import { type BetterDatabase, fromBetterSqlite3 } from './bindings/better-sqlite3.ts';
import type { Database } from './bindings/contract.ts';
import { fromNodeSqlite, type NodeDatabase } from './bindings/node-sqlite.ts';

export type { Database, Parameter, Row, Statement, Value } from './bindings/contract.ts';

/** In the order in which they are tried: what Node brings, the fastest of the others, and the one that never compiles. */
export const BINDINGS = ['node:sqlite', 'better-sqlite3', '@photostructure/sqlite'] as const;

export type BindingName = (typeof BINDINGS)[number];

/** What a user may hand in: an open database of better-sqlite3, `node:sqlite` or @photostructure/sqlite. */
export interface SqliteDatabase {
  prepare(sql: string): object;
  exec(sql: string): unknown;
  close(): unknown;
}

/** A binding that is there. */
export interface Binding {
  readonly name: BindingName;
  /** Throws what the binding throws. */
  open(file: string): Database;
}

/** Why a binding is not there, in words for people. */
export interface AbsentBinding {
  readonly name: BindingName;
  readonly absent: string;
}

/** Opens `file`, creating it where it does not exist. LZ1118 where no binding, or not the one asked for, is there. */
export async function openBinding(file: string, options: { readonly binding?: BindingName } = {}): Promise<Database> {
  return (await findBinding(options.binding)).open(file);
}

/** The first binding that is there, or `wanted`. LZ1118 says what was tried, and the line that installs one. */
export async function findBinding(wanted?: BindingName): Promise<Binding> {
  const tried: AbsentBinding[] = [];
  for (const name of wanted === undefined ? BINDINGS : [wanted]) {
    const binding = await loadBinding(name);
    if (!('absent' in binding)) return binding;
    tried.push(binding);
  }
  throw noBinding(tried);
}

export async function loadBinding(name: BindingName): Promise<Binding | AbsentBinding> {
  switch (name) {
    case 'node:sqlite':
      return loadNodeSqlite();
    case 'better-sqlite3':
      return loadBetterSqlite3();
    case '@photostructure/sqlite':
      return loadPhotostructure();
  }
}

/** Wraps a database that somebody else opened, and will close. Recognised by its shape; LZ1118 for any other object. */
export function adopt(database: SqliteDatabase): Database {
  const statement: object | undefined =
    typeof database?.prepare === 'function' ? database.prepare('SELECT 1') : undefined;
  if (statement !== undefined && 'setReadBigInts' in statement) {
    return fromNodeSqlite(database as NodeDatabase, 'injected, like node:sqlite', false);
  }
  if (statement !== undefined && 'safeIntegers' in statement) {
    return fromBetterSqlite3(database as BetterDatabase, 'injected, like better-sqlite3', false);
  }
  throw new LazaretError('LZ1118', 'The given database is no SQLite database that Lazaret knows.', {
    hint: `Hand in an open one of ${BINDINGS.join(', ')}.`,
  });
}

function loadNodeSqlite(): Binding | AbsentBinding {
  const name = 'node:sqlite';
  const module = quietly(() => process.getBuiltinModule?.(name)) as NodeModule | undefined;
  if (module === undefined) return { name, absent: `needs Node 22.13 or newer, this is ${process.versions.node}` };
  return {
    name,
    open: (file) => fromNodeSqlite(new module.DatabaseSync(file, {}), `${name} of Node ${process.versions.node}`, true),
  };
}

/** Nobody can act on the warning that `node:sqlite` is experimental. Any other warning goes its way. */
function quietly<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (rest[0] === 'ExperimentalWarning' && String(warning).includes('SQLite')) return;
    (emitWarning as (...all: unknown[]) => void).call(process, warning, ...rest);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

async function loadBetterSqlite3(): Promise<Binding | AbsentBinding> {
  const name = 'better-sqlite3';
  const version = installedVersion(name);
  if (version === undefined) return { name, absent: 'is not installed' };
  // 13 installs on Node 20 with a warning, and then takes the process down.
  if (major(version) >= 13 && major(process.versions.node) < 22) {
    return { name, absent: `is installed as ${version}, which crashes Node ${process.versions.node}; 12 does not` };
  }
  try {
    const module = (await load(name)) as { default: new (file: string) => BetterDatabase };
    // Only now it looks for its compiled part, which an install without scripts leaves out.
    new module.default(':memory:').close();
    return { name, open: (file) => fromBetterSqlite3(new module.default(file), `${name} ${version}`, true) };
  } catch (error) {
    return { name, absent: `is installed as ${version}, but does not load (${firstLine(error)})` };
  }
}

async function loadPhotostructure(): Promise<Binding | AbsentBinding> {
  const name = '@photostructure/sqlite';
  const version = installedVersion(name);
  if (version === undefined) return { name, absent: 'is not installed' };
  try {
    const module = (await load(name)) as NodeModule;
    return { name, open: (file) => fromNodeSqlite(new module.DatabaseSync(file, {}), `${name} ${version}`, true) };
  } catch (error) {
    return { name, absent: `is installed as ${version}, but does not load (${firstLine(error)})` };
  }
}

interface NodeModule {
  readonly DatabaseSync: new (file: string, options: object) => NodeDatabase;
}

/** n.b. the name stands in a variable, so that neither compilers nor bundlers ask for the package. */
function load(name: string): Promise<unknown> {
  return import(name);
}

function installedVersion(name: string): string | undefined {
  try {
    return (createRequire(import.meta.url)(`${name}/package.json`) as { version: string }).version;
  } catch {
    return undefined;
  }
}

function major(version: string): number {
  return Number.parseInt(version, 10);
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error)
    .split('\n', 1)[0]!
    .slice(0, 200);
}

function noBinding(tried: readonly AbsentBinding[]): LazaretError {
  const reasons = tried.map(({ name, absent }) => `${name} ${absent}`).join('; ');
  const install = tried.length === 1 ? tried[0]!.name : '@photostructure/sqlite';
  return new LazaretError('LZ1118', `No SQLite binding is there: ${reasons}.`, { hint: INSTALL[install] });
}

const INSTALL: Record<BindingName, string> = {
  'node:sqlite': "Use a newer Node, or leave 'binding' out and run: npm install @photostructure/sqlite@1",
  'better-sqlite3': 'Run: npm install better-sqlite3@12',
  '@photostructure/sqlite': 'Run: npm install @photostructure/sqlite@1',
};
