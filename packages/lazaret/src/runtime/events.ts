import { clip } from '../core/clip.ts';
import type { Rate } from '../core/duration.ts';
import type { Reason } from '../core/evidence.ts';
import { normalise } from '../core/normalise.ts';
import type { BreakerState } from '../core/storm/breaker.ts';
import type { LogFields, Logger } from '../ports/logger.ts';
import type { System } from '../ports/system.ts';
import { Throttle } from './throttle.ts';

/** What an app tells those who ask with `app.on`. Plain data; a message's body is never in it. */
export interface Events {
  /** Acknowledged: the handler returned, or said `ctx.skip`. */
  done: MessageEvent & { readonly skipped?: string };
  /** Failed and will run again. `held`: here, still leased. */
  retrying: MessageEvent & {
    readonly delayMs: number;
    readonly held: boolean;
    readonly why: string;
    readonly rule: string;
  };
  /** Given back uncharged. `spared`: it failed, and storm control says why that costs it nothing. */
  released: MessageEvent & { readonly delayMs: number; readonly why: string; readonly spared?: string };
  quarantined: MessageEvent & { readonly reason: Reason; readonly why: string; readonly fingerprint: string };
  /** Not ours any more: whatever its handler still does is not settled. */
  'lease-lost': MessageEvent & { readonly why: string };
  /** A handler still runs and is not listened to any more; `why` says what came between. `abandoned` counts those of its queue. */
  abandoned: MessageEvent & { readonly abandoned: number; readonly why: string };
  /** The broker counts more deliveries than failures and strikes explain. */
  'unaccounted-deliveries': MessageEvent & { readonly deliveries: number };
  /** Messages whose owners died wait to run alone. */
  suspects: { readonly queue: string; readonly waiting: number };
  'running-alone': MessageEvent & { readonly strikes: number };
  /** A verb of the broker failed; the runtime goes on by itself. */
  trouble: {
    /** `undefined`: it is the app's own connection. */
    readonly queue: string | undefined;
    readonly verb:
      | 'pull'
      | 'settle'
      | 'extend'
      | 'begin'
      | 'end'
      | 'alive'
      | 'alone'
      | 'credit'
      | 'dependency'
      | 'orders'
      | 'close';
    readonly error: Error;
  };
  stopped: { readonly queue: string };
  /** A breaker of this queue changed: of one dependency, or of all of it. `forMs`: how long it stays so, at most. */
  breaker: StormEvent & {
    readonly dependency?: string;
    readonly state: BreakerState;
    readonly forMs?: number;
    /** Another process of the queue found it out. */
    readonly learned?: true;
  };
  /** Nothing of this queue starts: nearly everything fails with one fingerprint, or a person said so. */
  paused: StormEvent & { readonly fingerprint?: string; readonly forMs: number };
  resumed: StormEvent;
  /** By hand: at most so many run at once, or so many start in a time; 0 ms: as before again. */
  limited: StormEvent & {
    readonly dependency?: string;
    readonly limit?: number;
    readonly rate?: Rate;
    readonly forMs: number;
  };
  /** What fails with this fingerprint goes no further into the quarantine: it waits in the queue, uncharged. */
  fused: StormEvent & { readonly fingerprint: string };
  'fuse-cleared': StormEvent & { readonly fingerprint: string };
  /** So many different messages fail with this fingerprint that it is none of theirs: they are slowed, and not charged. */
  systemic: StormEvent & { readonly fingerprint: string };
  'systemic-cleared': StormEvent & { readonly fingerprint: string };
}

export interface StormEvent {
  readonly queue: string;
  readonly why: string;
}

export interface MessageEvent {
  readonly queue: string;
  readonly id: string | undefined;
  readonly attempt: number;
}

export type EventName = keyof Events;
/** It may be asynchronous: nobody waits for it, and what it returns is ignored. */
export type Listener<E extends EventName> = (event: Events[E]) => unknown;

export interface Announcer {
  /** Calls `listener` for each such event, until the function that it returns is called. One that throws or rejects is logged and harms nobody. */
  on<E extends EventName>(name: E, listener: Listener<E>): () => void;
  /** Whether anybody listens: an event nobody hears is not made. */
  heard(name: EventName): boolean;
  /** Never throws. */
  tell<E extends EventName>(name: E, event: Events[E]): void;
  /** Logs what is still held back. */
  end(): void;
}

type Level = Exclude<keyof Logger, 'debug'>;

const LOUD: Partial<Record<EventName, Level>> = {
  quarantined: 'warn',
  'lease-lost': 'warn',
  abandoned: 'warn',
  'unaccounted-deliveries': 'warn',
  'running-alone': 'warn',
  trouble: 'error',
  stopped: 'info',
  breaker: 'warn',
  paused: 'warn',
  resumed: 'warn',
  limited: 'warn',
  fused: 'warn',
  'fuse-cleared': 'warn',
  systemic: 'warn',
  'systemic-cleared': 'warn',
};

/** The same trouble is logged at most so often: a broker that is away fails every heartbeat of every message. */
const TROUBLE_EVERY_MS = 1_000;

const LONGEST_SENTENCE = 1_000;
const LONGEST_WORD = 256;

/** Listeners by name; what people should see without listening goes to the logger as well. */
export function announcer(logger: Logger | undefined, system: System): Announcer {
  const listeners = new Map<EventName, Set<(event: never) => unknown>>();
  const throttle = new Throttle(TROUBLE_EVERY_MS, system);

  // A logger that fails has nobody left to tell.
  const log = (level: Level, event: string, fields: LogFields) =>
    safely(
      () => logger?.[level](event, fields),
      () => undefined,
    );

  const logRarely = (event: string, fields: LogFields) =>
    throttle.say(JSON.stringify([event, fields]), (leftOut) =>
      log('error', event, leftOut === 0 ? fields : { ...fields, leftOut }),
    );

  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set.add(listener));
      return () => void set.delete(listener);
    },
    heard: (name) => (logger !== undefined && name in LOUD) || (listeners.get(name)?.size ?? 0) > 0,
    tell(name, event) {
      const level = logger === undefined ? undefined : LOUD[name];
      if (name === 'trouble' && level !== undefined) logRarely(name, fieldsOf(event));
      else if (level !== undefined) log(level, name, fieldsOf(event));
      for (const listener of listeners.get(name) ?? []) {
        safely(
          () => listener(event as never),
          (thrown) => logRarely('listener-failed', { event: name, ...errorFields(thrown) }),
        );
      }
    },
    end: () => throttle.end(),
  };
}

/** Calls what is not ours. What it throws, and what a promise of it is rejected with, goes to `failed`, never further. */
function safely(call: () => unknown, failed: (thrown: unknown) => void): void {
  try {
    const answer = call();
    if (typeof answer === 'object' && answer !== null) Promise.resolve(answer).catch(failed);
  } catch (thrown) {
    failed(thrown);
  }
}

function fieldsOf(event: object): LogFields {
  const fields: Record<string, string | number | boolean | undefined> = {};
  for (const [name, value] of Object.entries(event)) {
    if (value instanceof Error) Object.assign(fields, errorFields(value));
    else if (typeof value === 'string') fields[name] = clip(value, name === 'why' ? LONGEST_SENTENCE : LONGEST_WORD);
    else if (typeof value === 'number' || typeof value === 'boolean') fields[name] = value;
  }
  return fields;
}

/** With the nearest cause, where the error does not tell it anyway. */
function errorFields(thrown: unknown): LogFields {
  const { name, message, code, causes } = normalise(thrown);
  const [cause] = causes;
  const tellsCause = cause === undefined || cause.message === '' || message.includes(cause.message);
  return {
    error: clip(message === '' ? name : message, LONGEST_SENTENCE),
    ...(code === undefined ? {} : { code }),
    ...(tellsCause ? {} : { cause: clip(cause.message, LONGEST_SENTENCE) }),
  };
}
