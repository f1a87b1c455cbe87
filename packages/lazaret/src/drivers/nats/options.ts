import { checkNames, oneOf, unknownOption, waitOf } from '../../core/driver-options.ts';
import { optionError, shown } from '../../core/option-error.ts';

export interface NatsOptions {
  /** 'nats://user:password@host:4222', or tls; 'nats://token@host'. Several servers of a cluster stand in one address, separated by commas. Options that are text may stand behind it ('?provision=all'). */
  readonly url: string;
  /**
   * What is created when a consumer starts: 'helpers' (default) what belongs to it (the durable consumer, the stream of its dead
   * letters), 'all' also the stream, 'never' nothing, so that what is missing is an error.
   */
  readonly provision?: 'helpers' | 'all' | 'never';
  /** The lease that a consumer of ours gets from the server. What is asked for beyond it is kept up by repeated extension. Default '90s'. */
  readonly ackWait?: string;
  /** How long a stream of ours remembers a `dedupeId`. Default '2m'. */
  readonly dedupeWindow?: string;
  /** Copies that a cluster keeps of streams of ours. Default 1. */
  readonly replicas?: number | string;
  /** How long an answer of the server may take: a publish, an acknowledgement, a question. Default '5s'. */
  readonly answerTimeout?: string;
  /** How long connecting may take. Default '5s'. */
  readonly connectTimeout?: string;
  /** Handed to the client as they are: `authenticator`, `tls`, `inboxPrefix`, … */
  readonly client?: object;
}

/** Checked, with defaults, in milliseconds. */
export interface NatsSettings {
  readonly servers: readonly string[];
  readonly user: string;
  readonly password: string;
  readonly isSecure: boolean;
  readonly provision: 'helpers' | 'all' | 'never';
  readonly ackWaitMs: number;
  readonly dedupeWindowMs: number;
  readonly replicas: number;
  readonly answerTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly client: object;
}

const NAMES: readonly (keyof NatsOptions)[] = [
  'url',
  'provision',
  'ackWait',
  'dedupeWindow',
  'replicas',
  'answerTimeout',
  'connectTimeout',
  'client',
];

/** Those that an address can say. */
const IN_ADDRESS: readonly string[] = NAMES.filter((name) => name !== 'url' && name !== 'client');
const MOST_REPLICAS = 5;
const DEFAULT_PORT = 4222;

/** Throws LZ10xx for what cannot be meant. What is given as an option goes before what the address says. */
export function readOptions(given: NatsOptions): NatsSettings {
  checkNames('nats', given, NAMES);
  const { place, said } = readAddress(given.url);
  const options: NatsOptions = { ...said, ...given };
  const { client = {} } = options;
  if (typeof client !== 'object' || client === null) {
    throw optionError('LZ1002', 'client', `${shown(client)} is no object.`, 'Write { tls: { ca } }, for instance.');
  }
  return {
    ...place,
    provision: oneOf('provision', options.provision ?? 'helpers', ['helpers', 'all', 'never']),
    ackWaitMs: waitOf(options.ackWait ?? '90s', 'ackWait'),
    dedupeWindowMs: waitOf(options.dedupeWindow ?? '2m', 'dedupeWindow'),
    replicas: replicasOf(options.replicas ?? 1),
    answerTimeoutMs: waitOf(options.answerTimeout ?? '5s', 'answerTimeout'),
    connectTimeoutMs: waitOf(options.connectTimeout ?? '5s', 'connectTimeout'),
    client,
  };
}

type Place = Pick<NatsSettings, 'servers' | 'user' | 'password' | 'isSecure'>;

/** n.b. an address may carry a password, so it is never repeated. */
function readAddress(url: unknown): { readonly place: Place; readonly said: Partial<NatsOptions> } {
  const hint = "Write 'nats://user:password@host:4222'.";
  if (typeof url !== 'string') throw optionError('LZ1002', 'url', `${shown(url)} is no address.`, hint);
  const [hosts = '', query = ''] = url.split('?', 2);
  const said = [...new URLSearchParams(query)];
  for (const [name] of said) if (!IN_ADDRESS.includes(name)) throw unknownOption('nats', name, IN_ADDRESS);
  const scheme = /^(?:nats|tls):/.exec(hosts)?.[0];
  const parsed = hosts
    .split(',')
    .map((host) => asUrl(scheme !== undefined && !host.includes('://') ? `${scheme}//${host}` : host));
  const [first] = parsed;
  if (
    scheme === undefined ||
    first === undefined ||
    !parsed.every((each) => each !== undefined && each.hostname !== '')
  ) {
    throw optionError('LZ1003', 'url', 'it is no address of NATS.', hint);
  }
  return {
    place: {
      servers: parsed.map((each) => `${each!.hostname}:${Number(each!.port) || DEFAULT_PORT}`),
      user: decoded(first.username),
      password: decoded(first.password),
      isSecure: scheme === 'tls:',
    },
    said: Object.fromEntries(said) as Partial<NatsOptions>,
  };
}

function asUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function replicasOf(value: number | string): number {
  const replicas = Number(value);
  if (Number.isInteger(replicas) && replicas >= 1 && replicas <= MOST_REPLICAS) return replicas;
  throw optionError(
    'LZ1003',
    'replicas',
    `${shown(value)} is none.`,
    `Write a whole number from 1 to ${MOST_REPLICAS}.`,
  );
}
