import type { Reason } from '../core/evidence.ts';
import type { LogFields, Logger } from '../ports/logger.ts';

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
  /** Given back uncharged. */
  released: MessageEvent & { readonly delayMs: number; readonly why: string };
  quarantined: MessageEvent & { readonly reason: Reason; readonly why: string; readonly fingerprint: string };
  /** Not ours any more: whatever its handler still does is not settled. */
  'lease-lost': MessageEvent & { readonly why: string };
  /** The handler passed its deadline and still runs. */
  abandoned: MessageEvent & { readonly abandoned: number };
  /** The broker counts more deliveries than failures and strikes explain. */
  'unaccounted-deliveries': MessageEvent & { readonly deliveries: number };
  /** Messages whose owners died wait to run alone. */
  suspects: { readonly queue: string; readonly waiting: number };
  'running-alone': MessageEvent & { readonly strikes: number };
  /** A verb of the broker failed; the runtime goes on by itself. */
  trouble: {
    /** `undefined`: it is the app's own connection. */
    readonly queue: string | undefined;
    readonly verb: 'pull' | 'settle' | 'extend' | 'begin' | 'alone' | 'close';
    readonly error: Error;
  };
  stopped: { readonly queue: string };
}

export interface MessageEvent {
  readonly queue: string;
  readonly id: string | undefined;
  readonly attempt: number;
}

export type EventName = keyof Events;
export type Listener<E extends EventName> = (event: Events[E]) => void;

export interface Announcer {
  /** Ends by calling what it returns. A listener that throws is logged and harms nobody. */
  on<E extends EventName>(name: E, listener: Listener<E>): () => void;
  /** Whether anybody listens: an event nobody hears is not made. */
  heard(name: EventName): boolean;
  tell<E extends EventName>(name: E, event: Events[E]): void;
}

const LOUD: Partial<Record<EventName, 'info' | 'warn' | 'error'>> = {
  quarantined: 'warn',
  'lease-lost': 'warn',
  abandoned: 'warn',
  'unaccounted-deliveries': 'warn',
  'running-alone': 'warn',
  trouble: 'error',
  stopped: 'info',
};

/** Listeners by name; what people should see without listening goes to the logger as well. */
export function announcer(logger: Logger): Announcer {
  const listeners = new Map<EventName, Set<(event: never) => void>>();
  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set.add(listener));
      return () => void set.delete(listener);
    },
    heard: (name) => name in LOUD || (listeners.get(name)?.size ?? 0) > 0,
    tell(name, event) {
      const level = LOUD[name];
      if (level !== undefined) logger[level](name, fieldsOf(event));
      for (const listener of listeners.get(name) ?? []) {
        try {
          listener(event as never);
        } catch (thrown) {
          logger.error('listener-failed', {
            event: name,
            error: thrown instanceof Error ? thrown.message : typeof thrown,
          });
        }
      }
    },
  };
}

function fieldsOf(event: object): LogFields {
  const fields: Record<string, string | number | boolean | undefined> = {};
  for (const [name, value] of Object.entries(event)) {
    if (value instanceof Error) fields[name] = value.message.slice(0, 1000);
    else if (typeof value !== 'object') fields[name] = value as string | number | boolean | undefined;
  }
  return fields;
}
