import { didYouMean } from '../../core/did-you-mean.ts';
import { parseDuration } from '../../core/duration.ts';
import { optionError, shown } from '../../core/option-error.ts';
import type { Place } from './refusals.ts';
import type { QueueType } from './topology.ts';

export interface RabbitmqOptions {
  /** 'amqp://user:password@host:5672/virtual-host', or amqps. */
  readonly url: string;
  /**
   * What is created when a consumer starts: 'helpers' (default) those queues that belong to the consumed one (dead letters, retry
   * tiers, the lane of suspects), 'all' also the consumed one, 'never' nothing, so that what is missing is an error.
   */
  readonly provision?: 'helpers' | 'all' | 'never';
  /** Of queues that we create for work. Default 'quorum'; 'classic' counts no deliveries. */
  readonly queueType?: QueueType;
  /** The server's own; a message that is not settled so long after it arrived is taken away. Default '30m', like the server's. */
  readonly consumerTimeout?: string;
  /** How long a publish may wait for its confirm. Default '10s'. */
  readonly confirmTimeout?: string;
  /** How long connecting may take. Default '5s'. */
  readonly connectTimeout?: string;
  /** How long a queue that was just created is left alone before it is published to: a younger quorum queue can lose what it confirmed. Default '5s'. */
  readonly settleTime?: string;
  /** Handed to Node's TLS for amqps: `ca`, `cert`, `key`, `servername`, … */
  readonly tls?: object;
}

/** Checked, with defaults, in milliseconds. */
export interface RabbitmqSettings {
  readonly url: string;
  readonly place: Place;
  readonly provision: 'helpers' | 'all' | 'never';
  readonly queueType: QueueType;
  readonly consumerTimeoutMs: number;
  readonly confirmTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly settleTimeMs: number;
  readonly tls: object;
}

const NAMES: readonly (keyof RabbitmqOptions)[] = [
  'url',
  'provision',
  'queueType',
  'consumerTimeout',
  'confirmTimeout',
  'connectTimeout',
  'settleTime',
  'tls',
];

/** Throws LZ10xx for what cannot be meant. */
export function readOptions(options: RabbitmqOptions): RabbitmqSettings {
  for (const name of Object.keys(options)) {
    if ((NAMES as readonly string[]).includes(name)) continue;
    const meant = didYouMean(name, NAMES);
    const todo = meant === undefined ? `There are ${NAMES.join(', ')}.` : `Did you mean '${meant}'?`;
    throw optionError('LZ1001', 'rabbitmq', `unknown option ${shown(name)}.`, todo);
  }
  const { url, tls = {} } = options;
  if (typeof tls !== 'object' || tls === null) {
    throw optionError('LZ1002', 'tls', `${shown(tls)} is no object.`, 'Write { ca, cert, key }.');
  }
  return {
    url,
    place: placeOf(url),
    provision: oneOf('provision', options.provision ?? 'helpers', ['helpers', 'all', 'never']),
    queueType: oneOf('queueType', options.queueType ?? 'quorum', ['quorum', 'classic']),
    consumerTimeoutMs: waitOf(options.consumerTimeout ?? '30m', 'consumerTimeout'),
    confirmTimeoutMs: waitOf(options.confirmTimeout ?? '10s', 'confirmTimeout'),
    connectTimeoutMs: waitOf(options.connectTimeout ?? '5s', 'connectTimeout'),
    settleTimeMs: parseDuration(options.settleTime ?? '5s', 'settleTime'),
    tls,
  };
}

function waitOf(value: string, option: string): number {
  const ms = parseDuration(value, option);
  if (ms === 0) throw optionError('LZ1003', option, 'nothing would ever be in time.', "Write '10s', for instance.");
  return ms;
}

function oneOf<T extends string>(option: string, value: T, all: readonly T[]): T {
  if (all.includes(value)) return value;
  throw optionError('LZ1003', option, `${shown(value)} is none.`, `There are ${all.join(', ')}.`);
}

/** n.b. an address may carry a password, so it is never repeated. */
function placeOf(url: unknown): Place {
  const hint = "Write 'amqp://user:password@host:5672'.";
  if (typeof url !== 'string') throw optionError('LZ1002', 'url', `${shown(url)} is no address.`, hint);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isSecure = parsed?.protocol === 'amqps:';
  if (parsed === undefined || parsed.hostname === '' || !(isSecure || parsed.protocol === 'amqp:')) {
    throw optionError('LZ1003', 'url', 'it is no address of RabbitMQ.', hint);
  }
  return {
    host: parsed.hostname,
    port: Number(parsed.port) || (isSecure ? 5671 : 5672),
    user: decoded(parsed.username) || 'guest',
    virtualHost: decoded(parsed.pathname.slice(1)) || '/',
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
