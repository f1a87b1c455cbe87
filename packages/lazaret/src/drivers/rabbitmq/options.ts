import { checkNames, oneOf, unknownOption, waitOf } from '../../core/driver-options.ts';
import { parseDuration } from '../../core/duration.ts';
import { optionError, shown } from '../../core/option-error.ts';
import type { Place } from './refusals.ts';
import type { QueueType } from './topology.ts';

export interface RabbitmqOptions {
  /**
   * 'amqp://user:password@host:5672/virtual-host', or amqps. Options that are text may stand behind it too ('?provision=all'), and
   * amqplib's own (`heartbeat`, `frameMax`, `channelMax`, `locale`, `maxFrameSize`).
   */
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

/** Those that an address can say. */
const IN_ADDRESS: readonly string[] = NAMES.filter((name) => name !== 'url' && name !== 'tls');
const OF_AMQPLIB: readonly string[] = ['heartbeat', 'frameMax', 'channelMax', 'locale', 'maxFrameSize'];

/** Throws LZ10xx for what cannot be meant. What is given as an option goes before what the address says. */
export function readOptions(given: RabbitmqOptions): RabbitmqSettings {
  checkNames('rabbitmq', given, NAMES);
  const options: RabbitmqOptions = { ...inAddress(given.url), ...given };
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

function inAddress(url: unknown): Partial<RabbitmqOptions> {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  const said = [...(parsed?.searchParams ?? [])];
  for (const [name] of said) {
    if (!IN_ADDRESS.includes(name) && !OF_AMQPLIB.includes(name))
      throw unknownOption('rabbitmq', name, [...IN_ADDRESS, ...OF_AMQPLIB]);
  }
  return Object.fromEntries(said.filter(([name]) => IN_ADDRESS.includes(name)));
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
