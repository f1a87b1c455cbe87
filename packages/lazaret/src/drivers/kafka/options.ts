import { parseDuration } from '../../core/duration.ts';
import { optionError, shown } from '../../core/option-error.ts';
import { givenOptions, oneOf, wholeNumber } from '../../core/option-values.ts';
import { parseSize } from '../../core/size.ts';
import { checkName } from './topics.ts';

export interface KafkaOptions {
  /**
   * 'kafka://user:password@host:9092,other-host:9092'. Options that are text may stand behind it too ('?provision=all'), and 'tls=true'.
   */
  readonly url: string;
  /** Consumer group, where an app names none. Default: one for each queue, 'lazaret.orders'. */
  readonly group?: string;
  /**
   * What is created when a consumer starts: 'helpers' (default) those topics that belong to the consumed one (dead letters, retry
   * tiers), 'all' also the consumed one, 'never' nothing, so that what is missing is an error.
   */
  readonly provision?: 'helpers' | 'all' | 'never';
  /** Of a topic that we create for work. Default 6. */
  readonly partitions?: number;
  /** Of topics that we create. Default the broker's. */
  readonly replication?: number;
  /** After so long without a heartbeat a member's partitions go to others. Default '10s'. */
  readonly sessionTimeout?: string;
  /** How long connecting may take. Default '5s'. */
  readonly connectTimeout?: string;
  /** How long a publish may wait for its confirm. Default '10s'. */
  readonly confirmTimeout?: string;
  /** The largest record; the topics' max.message.bytes has to allow it. Default '1048000B'. */
  readonly maxMessage?: string;
  /** Handed to librdkafka as it is, for all its clients: `{ 'sasl.mechanisms': 'SCRAM-SHA-512', 'ssl.ca.location': … }`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The package, where it is not to be found by its name: `await import('@confluentinc/kafka-javascript')`. */
  readonly client?: unknown;
}

/** Checked, with defaults, in milliseconds. */
export interface KafkaSettings {
  readonly brokers: string;
  readonly user: string | undefined;
  readonly group: string | undefined;
  readonly provision: 'helpers' | 'all' | 'never';
  readonly partitions: number;
  readonly replication: number;
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly confirmTimeoutMs: number;
  readonly maxMessageBytes: number;
  /** librdkafka's. */
  readonly common: Readonly<Record<string, unknown>>;
  readonly client: unknown;
}

const NAMES: readonly (keyof KafkaOptions)[] = [
  'url',
  'group',
  'provision',
  'partitions',
  'replication',
  'sessionTimeout',
  'connectTimeout',
  'confirmTimeout',
  'maxMessage',
  'config',
  'client',
];

/** Those that an address can say. */
const IN_ADDRESS: readonly string[] = [...NAMES.filter((name) => !['url', 'config', 'client'].includes(name)), 'tls'];
const NUMBERS: readonly string[] = ['partitions', 'replication'];

/** Throws LZ10xx for what cannot be meant. What is given as an option goes before what the address says. */
export function readOptions(options: KafkaOptions): KafkaSettings {
  const given = givenOptions(options, NAMES, 'kafka');
  const address = readAddress(given.get('url'));
  const value = (name: string, otherwise: unknown): unknown => given.get(name) ?? address.said.get(name) ?? otherwise;
  const group = value('group', undefined);
  if (group !== undefined && typeof group !== 'string') {
    throw optionError('LZ1002', 'group', `${shown(group)} is not text.`, "Write 'billing'.");
  }
  if (group !== undefined) checkName(group, 'group');
  const config = given.get('config') ?? {};
  if (typeof config !== 'object')
    throw optionError('LZ1002', 'config', `${shown(config)} is no object.`, 'Write { … }.');
  return {
    brokers: address.brokers,
    user: address.user,
    group,
    provision: oneOf(['helpers', 'all', 'never'], value('provision', 'helpers'), 'provision'),
    partitions: wholeNumber(value('partitions', 6), 'partitions', 1),
    replication:
      value('replication', undefined) === undefined ? -1 : wholeNumber(value('replication', 1), 'replication', 1),
    sessionTimeoutMs: waitOf(value('sessionTimeout', '10s'), 'sessionTimeout'),
    connectTimeoutMs: waitOf(value('connectTimeout', '5s'), 'connectTimeout'),
    confirmTimeoutMs: waitOf(value('confirmTimeout', '10s'), 'confirmTimeout'),
    maxMessageBytes: parseSize(value('maxMessage', '1048000B'), 'maxMessage'),
    common: { ...DEFAULTS, ...connectionOf(address), ...(config as object) },
    client: given.get('client'),
  };
}

/** n.b. the log is read while connecting, and goes to nobody else. */
const DEFAULTS = {
  'client.id': 'lazaret',
  'reconnect.backoff.ms': 100,
  'reconnect.backoff.max.ms': 1_000,
  'socket.timeout.ms': 10_000,
  log_level: 6,
};

interface Address {
  readonly brokers: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly said: ReadonlyMap<string, unknown>;
}

const HINT = "Write 'kafka://user:password@host:9092,other-host:9092', or 'kafka:host:9092'.";

/** n.b. an address may carry a password, so it is never repeated. */
function readAddress(url: unknown): Address {
  if (typeof url !== 'string') throw optionError('LZ1002', 'url', `${shown(url)} is no address.`, HINT);
  const parts = /^kafka:(?:\/\/)?(?:([^@/?]*)@)?([^/?@]+)\/?(?:\?(.*))?$/.exec(url);
  if (parts === null) throw optionError('LZ1003', 'url', 'it is no address of Kafka.', HINT);
  const [, login, hosts = '', query = ''] = parts;
  const brokers = hosts.split(',').map((host) => {
    if (!/^(?:\[[0-9a-fA-F:]+\]|[^\s:[\]]+)(?::\d{1,5})?$/.test(host)) {
      throw optionError('LZ1003', 'url', 'it names no host.', HINT);
    }
    return /:\d+$/.test(host) && !host.endsWith(']') ? host : `${host}:9092`;
  });
  const [user, password] = (login ?? '').split(/:(.*)/s);
  const said = new Map<string, unknown>();
  const known = new Map([...new URLSearchParams(query)]);
  for (const [name, text] of givenOptions(Object.fromEntries(known), IN_ADDRESS, 'kafka')) {
    said.set(name, NUMBERS.includes(name) && /^\d{1,9}$/.test(String(text)) ? Number(text) : text);
  }
  return {
    brokers: brokers.join(','),
    user: user === undefined || user === '' ? undefined : decoded(user),
    password: password === undefined ? undefined : decoded(password),
    said,
  };
}

function connectionOf({ brokers, user, password, said }: Address): Readonly<Record<string, unknown>> {
  const isSecure = said.has('tls') && oneOf(['true', 'false'], said.get('tls'), 'tls') === 'true';
  const security = `${user === undefined ? '' : 'sasl_'}${isSecure ? 'ssl' : 'plaintext'}`;
  const login =
    user === undefined ? {} : { 'sasl.mechanisms': 'PLAIN', 'sasl.username': user, 'sasl.password': password ?? '' };
  return { 'bootstrap.servers': brokers, 'security.protocol': security, ...login };
}

function waitOf(value: unknown, option: string): number {
  const ms = parseDuration(value, option);
  if (ms === 0) throw optionError('LZ1003', option, 'nothing would ever be in time.', "Write '10s', for instance.");
  return ms;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
