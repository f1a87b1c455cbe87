import { LazaretError } from '../core/errors.ts';
import type { HeaderList, HeaderValue } from '../core/message.ts';
import { NO_HEADERS } from '../core/message.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Context, Refusal } from '../runtime/context.ts';
import { RunContext } from '../runtime/context.ts';
import { encode, headersOf } from '../runtime/outgoing.ts';
import type { ReceivedMessage } from '../runtime/received.ts';
import { Incoming } from '../runtime/received.ts';
import { Run } from '../runtime/run.ts';

export interface TestMessage {
  readonly id?: string;
  readonly key?: string;
  /** As for `app.send`: bytes as they are, `null` as a tombstone, everything else as JSON. */
  readonly body: unknown;
  readonly headers?: HeaderList | Readonly<Record<string, HeaderValue>>;
}

/** A message as a handler gets it, to call a handler in a test. Throws LZ1002 for what `app.send` would refuse. */
export function received<T = unknown>({ id, key, body, headers }: TestMessage): ReceivedMessage<T> {
  return new Incoming<T>({
    ...(id === undefined ? {} : { id }),
    ...(key === undefined ? {} : { key }),
    body: encode(body),
    headers: headersOf(headers) ?? NO_HEADERS,
  });
}

export interface FakeContextOptions {
  /** Default 'test'. */
  readonly queue?: string;
  /** Of the message; `idempotencyKey` gives it. Default 'm-1'. */
  readonly id?: string;
  /** Default 1. */
  readonly attempt?: number;
  /** Default 0. */
  readonly strikes?: number;
  /** Epoch milliseconds. Default 0. */
  readonly firstSeenAt?: number;
  /** What `extend` answers. Default `true`. */
  readonly extends?: boolean;
  /** `dependency` throws, as while a breaker is open. Default `false`. */
  readonly down?: boolean;
}

export interface FakeContext extends Context {
  /** What the handler said by name; `undefined` while it said nothing. */
  readonly said: Outcome | undefined;
  /** Aborts `signal`, as a lost lease, the deadline or a stop would. */
  abort(reason?: Error): void;
}

/** A context to call a handler with in a test. It refuses what a real one refuses: a second word, a time without a unit. */
export function fakeContext(options: FakeContextOptions = {}): FakeContext {
  const { queue = 'test', id = 'm-1', attempt = 1, strikes = 0, firstSeenAt = 0 } = options;
  const message = { id, body: null, headers: NO_HEADERS };
  const run = new Run({ message, source: { queue }, receipt: undefined, attempt, strikes, firstSeenAt }, 0);
  const refusal = options.down === true ? { forMs: 5_000, why: 'the test says so' } : undefined;
  return new Fake(run, options.extends ?? true, refusal);
}

class Fake extends RunContext implements FakeContext {
  readonly #run: Run;

  constructor(run: Run, mayExtend: boolean, refusal: Refusal | undefined) {
    super(run, { prolong: async () => mayExtend, need: () => refusal });
    this.#run = run;
  }

  get said(): Outcome | undefined {
    return this.#run.said;
  }

  abort(reason: Error = new LazaretError('LZ1207', 'the test aborts its handler.')): void {
    this.#run.abort(reason);
  }
}
