import { checkNames, oneOf, unknownOption, waitOf } from '../../core/driver-options.ts';
import { optionError, shown } from '../../core/option-error.ts';
import type { RedisClient } from './client.ts';

export interface RedisOptions {
  /** 'redis://user:password@host:6379/0', or 'rediss://' over TLS. Options that are text may stand behind it ('?provision=never'). Required unless `client` is given. */
  readonly url?: string;
  /** A client of ioredis to use instead, `Redis` or `Cluster`. It is not closed with the broker; a duplicate of it blocks for each consumer. */
  readonly client?: RedisClient;
  /** 'all' makes streams and groups where they are missing; 'never' makes nothing: what is missing is LZ1302. Default 'all'. */
  readonly provision?: 'all' | 'never';
  /** How long connecting may take; default '5s'. */
  readonly connectTimeout?: string;
  /** How long an answer may take; default '10s'. */
  readonly answerTimeout?: string;
  /** How long a `dedupeId` is remembered; default '24h'. */
  readonly dedupeWindow?: string;
}

/** Checked, with defaults, in milliseconds. */
export interface RedisSettings {
  readonly url: string | undefined;
  readonly client: RedisClient | undefined;
  /** The server, without user and password: for messages. */
  readonly place: string;
  readonly provision: 'all' | 'never';
  readonly connectTimeoutMs: number;
  readonly answerTimeoutMs: number;
  readonly dedupeWindowMs: number;
}

const NAMES: readonly (keyof RedisOptions)[] = [
  'url',
  'client',
  'provision',
  'connectTimeout',
  'answerTimeout',
  'dedupeWindow',
];
/** Those that an address can say. */
const IN_ADDRESS: readonly string[] = NAMES.filter((name) => name !== 'url' && name !== 'client');

/** Throws LZ10xx for what cannot be meant. What is given as an option goes before what the address says. */
export function readOptions(given: RedisOptions): RedisSettings {
  checkNames('redis', given, NAMES);
  const { url, said } = given.client === undefined ? readAddress(given.url) : { url: undefined, said: {} };
  const options: RedisOptions = { ...said, ...given };
  if (options.client !== undefined) checkClient(options.client, given.url);
  return {
    url: url?.toString(),
    client: options.client,
    place: url === undefined ? 'the given client' : url.host || 'localhost',
    provision: oneOf('provision', options.provision ?? 'all', ['all', 'never']),
    connectTimeoutMs: waitOf(options.connectTimeout ?? '5s', 'connectTimeout'),
    answerTimeoutMs: waitOf(options.answerTimeout ?? '10s', 'answerTimeout'),
    dedupeWindowMs: waitOf(options.dedupeWindow ?? '24h', 'dedupeWindow'),
  };
}

/** n.b. an address may carry a password, so it is never repeated. */
function readAddress(given: unknown): { readonly url: URL; readonly said: Partial<RedisOptions> } {
  const isAddress = typeof given === 'string' && /^rediss?:\/\//.test(given) && URL.canParse(given);
  if (!isAddress) {
    const what = given === undefined ? 'there is none.' : 'it is no address of Redis.';
    throw optionError('LZ1002', 'url', what, "Write 'redis://user:password@host:6379', or hand in a client.");
  }
  const url = new URL(given);
  const said = [...url.searchParams];
  for (const [name] of said) if (!IN_ADDRESS.includes(name)) throw unknownOption('redis', name, IN_ADDRESS);
  url.search = '';
  return { url, said: Object.fromEntries(said) };
}

function checkClient(client: RedisClient, url: unknown): void {
  if (typeof client?.callBuffer !== 'function' || typeof client.duplicate !== 'function') {
    throw optionError('LZ1002', 'client', `${shown(client)} is no client.`, "Hand in a Redis or Cluster of 'ioredis'.");
  }
  if (url !== undefined) throw optionError('LZ1004', 'redis', "'client' is connected by itself.", "Leave out 'url'.");
}
