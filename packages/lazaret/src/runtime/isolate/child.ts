import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { clip, oneLine } from '../../core/clip.ts';
import { LazaretError } from '../../core/errors.ts';
import { normalise } from '../../core/normalise.ts';
import type { Failure } from '../../core/outcome.ts';
import { peek } from '../../core/peek.ts';
import type { System } from '../../ports/system.ts';
import type { Keeper } from '../context.ts';
import type { Handler } from '../inline.ts';
import { inline } from '../inline.ts';
import { Run } from '../run.ts';
import type { Schema } from '../schema.ts';
import { unframe } from './framing.ts';
import type { Reply, Request, Said, SentDelivery } from './protocol.ts';
import { decodeRequest, encodeReply, LONGEST_WHY } from './protocol.ts';
import type { Thrown } from './thrown.ts';
import { packThrown } from './thrown.ts';

/** As the parent set it up: its end of the pipe, and what it wrote on the command line. */
const PIPE = 3;
const HANDLER_ARGUMENT = 2;

/** Sent to all of a terminal or a service at once. The parent is meant: it lets handlers finish, and then ends us. */
const FOR_THE_PARENT = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const LONGEST_LAST_WORDS = 200;

/** Makes this process a child that performs what its parent sends, until the parent closes the pipe or is gone. */
export function serveParent(system: System): void {
  const pipe = new Socket({ fd: PIPE });
  const child = new Child(process.argv[HANDLER_ARGUMENT] ?? '', pipe, system);
  pipe.on(
    'data',
    unframe(Number.POSITIVE_INFINITY, (payload) => child.hear(decodeRequest(payload))),
  );
  pipe.on('error', () => process.exit());
  pipe.on('end', () => process.exit());
  for (const signal of FOR_THE_PARENT) process.on(signal, () => undefined);
  process.on('uncaughtExceptionMonitor', (thrown) => child.dying(thrown));
}

/**
 * Loads one handler and performs one message at a time, as `inline` does. What is thrown is only packed here: the classifier, and what
 * the user wrote for it, live in the parent.
 */
class Child implements Keeper {
  readonly #handlerHref: string;
  readonly #pipe: Socket;
  readonly #system: System;
  #token = '';
  #handler: Handler | undefined;
  #schema: Schema | undefined;
  #current: { readonly job: number; readonly run: Run } | undefined;
  /** Extensions that were asked for. The parent answers each of them. */
  readonly #asks = new Map<number, (ours: boolean) => void>();
  #lastAsk = 0;

  constructor(handlerHref: string, pipe: Socket, system: System) {
    this.#handlerHref = handlerHref;
    this.#pipe = pipe;
    this.#system = system;
  }

  hear(request: Request): void {
    switch (request.kind) {
      case 'load':
        void this.#begin(request);
        break;
      case 'perform':
        void this.#perform(request.job, request.delivery);
        break;
      case 'abort':
        if (this.#current?.job !== request.job) break;
        this.#current.run.abort(new LazaretError(request.code, request.message));
        break;
      case 'extended':
        this.#asks.get(request.ask)?.(request.ours);
        this.#asks.delete(request.ask);
    }
  }

  dying(thrown: unknown): void {
    const { name, message } = normalise(thrown);
    this.#say({ kind: 'dying', of: oneLine(`${name}: ${message}`, LONGEST_LAST_WORDS) });
  }

  #say(reply: Reply): void {
    this.#pipe.write(encodeReply(this.#token, reply));
  }

  // --- loading ----------------------------------------------------------------------------------------------------

  async #begin({ token, parent, reportEveryMs }: Extract<Request, { kind: 'load' }>): Promise<void> {
    this.#token = token;
    new Worker(new URL('./parent-watch.js', import.meta.url), { workerData: { parent } }).unref();
    if (reportEveryMs !== undefined) this.#report(reportEveryMs);
    try {
      const module: unknown = await import(this.#handlerHref);
      this.#handler = handlerIn(module);
      this.#schema = peek(module, 'schema') as Schema | undefined;
      this.#say({ kind: this.#handler === undefined ? 'unfit' : 'ready' });
    } catch (thrown) {
      this.#say({ kind: 'unloadable', thrown: packThrown(thrown, this.#system.now()) });
    }
  }

  #report(everyMs: number): void {
    this.#say({ kind: 'uses', bytes: process.memoryUsage.rss() });
    this.#system.after(everyMs, () => this.#report(everyMs));
  }

  // --- performing -------------------------------------------------------------------------------------------------

  async #perform(job: number, delivery: SentDelivery): Promise<void> {
    const run = new Run({ ...delivery, receipt: undefined }, this.#system.monotonic());
    let thrown: Thrown = [];
    const pack = (value: unknown): Failure => {
      thrown = packThrown(value, this.#system.now());
      return FAILED;
    };
    this.#current = { job, run };
    const outcome = await inline(this.#handler!, pack, this.#schema).perform(run, this);
    this.#current = undefined;
    const end = outcome.kind === 'failed' ? ({ kind: 'threw', thrown } as const) : bounded(outcome as Said);
    this.#say({ kind: 'ended', job, end });
  }

  /** Only told: what may not be called now is known in the parent, and it fails for nothing here. */
  need(run: Run, dependency: string): undefined {
    if (this.#current?.run !== run) return;
    this.#say({ kind: 'needs', job: this.#current.job, dependency: clip(dependency, LONGEST_WHY) });
  }

  prolong(run: Run, ms: number): Promise<boolean> {
    if (this.#current?.run !== run) return Promise.resolve(false);
    const ask = ++this.#lastAsk;
    this.#say({ kind: 'extend', job: this.#current.job, ask, ms });
    return new Promise((answer) => this.#asks.set(ask, answer));
  }
}

/** Stands for what the parent will find. */
const FAILED = {} as Failure;

/** The default export or the one named `handler`; where CommonJS was compiled from a module, both stand one level deeper. */
function handlerIn(module: unknown): Handler | undefined {
  const inner = peek(module, 'default');
  const candidates = [inner, peek(module, 'handler'), peek(inner, 'default'), peek(inner, 'handler')];
  return candidates.find((candidate) => typeof candidate === 'function') as Handler | undefined;
}

/** Handlers written without types say anything. */
function bounded(outcome: Said): Said {
  if (outcome.kind === 'done') return outcome;
  const why: unknown = outcome.why;
  return { ...outcome, why: typeof why === 'string' ? clip(why, LONGEST_WHY) : '' };
}
