import { checkNames, oneOf, waitOf } from '../../core/driver-options.ts';
import { optionError, shown } from '../../core/option-error.ts';
import type { PgPool } from './client.ts';

export interface PostgresOptions {
  /**
   * 'postgres://user:password@host:5432/database'. Options that are text may stand behind it ('?schema=shop'); what else stands there is
   * for `pg`: `sslmode`, `host` of a socket. Required unless `pool` is given.
   */
  readonly url?: string;
  /** A pool of `pg` to use instead. It is not ended with the broker; one of its connections is kept to listen. */
  readonly pool?: PgPool;
  /** Where the tables are; default 'lazaret'. */
  readonly schema?: string;
  /** 'all' makes the schema, its tables and queues where they are missing; 'never' makes nothing: what is missing is LZ1302. Default 'all'. */
  readonly provision?: 'all' | 'never';
  /** Connections of a pool of our own, one of which listens; default 5. */
  readonly connections?: number | string;
  /** How long connecting may take; default '5s'. */
  readonly connectTimeout?: string;
  /** How long a statement may take; default '15s'. */
  readonly statementTimeout?: string;
  /** How long letters are kept after they died; default '30d'. */
  readonly letterRetention?: string;
  /** How long a `dedupeId` is remembered; default '24h'. */
  readonly dedupeWindow?: string;
}

/** Checked, with defaults, in milliseconds. */
export interface PostgresSettings {
  readonly url: string | undefined;
  readonly pool: PgPool | undefined;
  /** The server and database, without user and password: for messages. */
  readonly place: string;
  readonly schema: string;
  readonly provision: 'all' | 'never';
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly letterRetentionMs: number;
  readonly dedupeWindowMs: number;
}

const NAMES: readonly (keyof PostgresOptions)[] = [
  'url',
  'pool',
  'schema',
  'provision',
  'connections',
  'connectTimeout',
  'statementTimeout',
  'letterRetention',
  'dedupeWindow',
];
/** One listens, so that one is left. */
const FEWEST_CONNECTIONS = 2;
const MOST_CONNECTIONS = 100;

/** Those that an address can say; what else it says is for `pg`. */
const IN_ADDRESS: readonly string[] = NAMES.filter((name) => name !== 'url' && name !== 'pool');

/** Throws LZ10xx for what cannot be meant. What is given as an option goes before what the address says. */
export function readOptions(given: PostgresOptions): PostgresSettings {
  checkNames('postgres', given, NAMES);
  const { url, said } = given.pool === undefined ? readAddress(given.url) : { url: undefined, said: {} };
  const options: PostgresOptions = { ...said, ...given };
  const { pool, schema = 'lazaret' } = options;
  if (pool !== undefined) checkPool(pool, given.url);
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,40}$/.test(schema)) {
    const todo = "Write lower-case letters, such as 'lazaret'.";
    throw optionError('LZ1003', 'schema', `${shown(schema)} is no plain name.`, todo);
  }
  return {
    url: url?.toString(),
    pool,
    place: url === undefined ? 'the given pool' : placeOf(url),
    schema,
    provision: oneOf('provision', options.provision ?? 'all', ['all', 'never']),
    connections: connectionsOf(options.connections ?? 5),
    connectTimeoutMs: waitOf(options.connectTimeout ?? '5s', 'connectTimeout'),
    statementTimeoutMs: waitOf(options.statementTimeout ?? '15s', 'statementTimeout'),
    letterRetentionMs: waitOf(options.letterRetention ?? '30d', 'letterRetention'),
    dedupeWindowMs: waitOf(options.dedupeWindow ?? '24h', 'dedupeWindow'),
  };
}

/** n.b. an address may carry a password, so it is never repeated. */
function readAddress(given: unknown): { readonly url: URL; readonly said: Partial<PostgresOptions> } {
  const isAddress = typeof given === 'string' && /^postgres(ql)?:\/\//.test(given) && URL.canParse(given);
  if (!isAddress) {
    const what = given === undefined ? 'there is none.' : 'it is no address of PostgreSQL.';
    throw optionError('LZ1002', 'url', what, "Write 'postgres://user:password@host:5432/database', or hand in a pool.");
  }
  const url = new URL(given);
  const said = [...url.searchParams].filter(([name]) => IN_ADDRESS.includes(name));
  for (const [name] of said) url.searchParams.delete(name);
  return { url, said: Object.fromEntries(said) };
}

function connectionsOf(given: number | string): number {
  const connections = typeof given === 'string' && /^[0-9]+$/.test(given) ? Number(given) : given;
  const isFine = typeof connections === 'number' && Number.isInteger(connections);
  if (isFine && connections >= FEWEST_CONNECTIONS && connections <= MOST_CONNECTIONS) return connections;
  const todo = `Write a whole number from ${FEWEST_CONNECTIONS} to ${MOST_CONNECTIONS}.`;
  throw optionError('LZ1003', 'connections', `${shown(given)} cannot be.`, todo);
}

function checkPool(pool: PgPool, url: unknown): void {
  if (typeof pool?.query !== 'function' || typeof pool.connect !== 'function') {
    throw optionError('LZ1002', 'pool', `${shown(pool)} is no pool.`, "Hand in a Pool of 'pg'.");
  }
  if (url !== undefined) throw optionError('LZ1004', 'postgres', "'pool' is connected by itself.", "Leave out 'url'.");
}

function placeOf({ host, pathname }: URL): string {
  return `${host === '' ? 'the local server' : host}${pathname === '/' ? '' : pathname}`;
}
