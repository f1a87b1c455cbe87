import { didYouMean } from '../../core/did-you-mean.ts';
import { parseDuration } from '../../core/duration.ts';
import { optionError, shown } from '../../core/option-error.ts';
import type { PgPool } from './client.ts';

export interface PostgresOptions {
  /** 'postgres://user:password@host:5432/database'. What stands behind `?` is for `pg`: `sslmode`, `host` of a socket. Required unless `pool` is given. */
  readonly url?: string;
  /** A pool of `pg` to use instead. It is not ended with the broker; one of its connections is kept to listen. */
  readonly pool?: PgPool;
  /** Where the tables are; default 'lazaret'. */
  readonly schema?: string;
  /** 'all' makes the schema, its tables and queues where they are missing; 'never' makes nothing: what is missing is LZ1302. Default 'all'. */
  readonly provision?: 'all' | 'never';
  /** Connections of a pool of our own, one of which listens; default 5. */
  readonly connections?: number;
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

/** Throws LZ10xx for what cannot be meant. */
export function readOptions(options: PostgresOptions): PostgresSettings {
  for (const name of Object.keys(options)) {
    if ((NAMES as readonly string[]).includes(name)) continue;
    const meant = didYouMean(name, NAMES);
    const todo = meant === undefined ? `There are ${NAMES.join(', ')}.` : `Did you mean '${meant}'?`;
    throw optionError('LZ1001', 'postgres', `unknown option ${shown(name)}.`, todo);
  }
  const { url, pool, schema = 'lazaret', provision = 'all', connections = 5 } = options;
  if (pool !== undefined && url !== undefined) {
    throw optionError('LZ1004', 'postgres', "'pool' is connected by itself.", "Leave out 'url'.");
  }
  if (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,40}$/.test(schema)) {
    throw optionError(
      'LZ1003',
      'schema',
      `${shown(schema)} is no plain name.`,
      "Write lower-case letters, such as 'lazaret'.",
    );
  }
  if (provision !== 'all' && provision !== 'never') {
    throw optionError('LZ1003', 'provision', `${shown(provision)} is none.`, "Write 'all' or 'never'.");
  }
  if (!Number.isInteger(connections) || connections < FEWEST_CONNECTIONS || connections > MOST_CONNECTIONS) {
    const todo = `Write a whole number from ${FEWEST_CONNECTIONS} to ${MOST_CONNECTIONS}.`;
    throw optionError('LZ1003', 'connections', `${shown(connections)} cannot be.`, todo);
  }
  return {
    url: pool === undefined ? checkUrl(url) : undefined,
    pool: pool === undefined ? undefined : checkPool(pool),
    place: pool === undefined ? placeOf(url!) : 'the given pool',
    schema,
    provision,
    connections,
    connectTimeoutMs: parseDuration(options.connectTimeout ?? '5s', 'connectTimeout'),
    statementTimeoutMs: parseDuration(options.statementTimeout ?? '15s', 'statementTimeout'),
    letterRetentionMs: parseDuration(options.letterRetention ?? '30d', 'letterRetention'),
    dedupeWindowMs: parseDuration(options.dedupeWindow ?? '24h', 'dedupeWindow'),
  };
}

/** An address may carry a password, so it is not repeated. */
function checkUrl(url: unknown): string {
  const isUrl = typeof url === 'string' && /^postgres(ql)?:\/\//.test(url) && URL.canParse(url);
  if (isUrl) return url;
  const what = url === undefined ? 'there is none.' : 'it is no address of PostgreSQL.';
  throw optionError('LZ1002', 'url', what, "Write 'postgres://user:password@host:5432/database', or hand in a pool.");
}

function checkPool(pool: PgPool): PgPool {
  if (typeof pool?.query === 'function' && typeof pool.connect === 'function') return pool;
  throw optionError('LZ1002', 'pool', `${shown(pool)} is no pool.`, "Hand in a Pool of 'pg'.");
}

function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host === '' ? 'the local server' : host}${pathname === '/' ? '' : pathname}`;
}
