import { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { clip, oneLine } from '../../core/clip.ts';
import { LazaretError } from '../../core/errors.ts';
import { normalise } from '../../core/normalise.ts';
import type { Failure } from '../../core/outcome.ts';
import { peek } from '../../core/peek.ts';
import { realSystem } from '../../system.ts';
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

/**
 * The entry of a child process: loads one handler and performs what its parent sends, one message at a time, as `inline` does. What the
 * handler throws is only packed here: the classifier, and what the user wrote for it, live in the parent.
 */

const PIPE = 3;
/** Sent to all of a terminal or a service at once. The parent is meant: it lets handlers finish, and then ends us. */
const FOR_THE_PARENT = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const IN_THE_PARENT = {} as Failure;

const [, , handlerHref = ''] = process.argv;
const pipe = new Socket({ fd: PIPE });
const asks = new Map<number, (ours: boolean) => void>();
let token = '';
let lastAsk = 0;
let handler: Handler;
let schema: Schema | undefined;
let current: { readonly job: number; readonly run: Run } | undefined;

pipe.on(
  'data',
  unframe(Number.POSITIVE_INFINITY, (payload) => hear(decodeRequest(payload))),
);
pipe.on('error', () => process.exit());
pipe.on('end', () => process.exit());
for (const signal of FOR_THE_PARENT) process.on(signal, () => undefined);
process.on('uncaughtExceptionMonitor', (thrown) => {
  const { name, message } = normalise(thrown);
  say({ kind: 'dying', of: oneLine(`${name}: ${message}`, 200) });
});

function say(reply: Reply): void {
  pipe.write(encodeReply(token, reply));
}

function hear(request: Request): void {
  switch (request.kind) {
    case 'load':
      token = request.token;
      new Worker(new URL('./parent-watch.js', import.meta.url), { workerData: request }).unref();
      if (request.reportEveryMs !== undefined) report(request.reportEveryMs);
      void load();
      return;
    case 'perform':
      void perform(request.job, request.delivery);
      return;
    case 'abort':
      if (current?.job === request.job) current.run.abort(new LazaretError(request.code, request.message));
      return;
    case 'extended':
      asks.get(request.ask)?.(request.ours);
      asks.delete(request.ask);
  }
}

function report(everyMs: number): void {
  say({ kind: 'uses', bytes: process.memoryUsage.rss() });
  realSystem.after(everyMs, () => report(everyMs));
}

async function load(): Promise<void> {
  try {
    const module: unknown = await import(handlerHref);
    const found = handlerIn(module);
    if (found !== undefined) handler = found;
    schema = peek(module, 'schema') as Schema | undefined;
    say({ kind: found === undefined ? 'unfit' : 'ready' });
  } catch (thrown) {
    say({ kind: 'unloadable', thrown: packThrown(thrown, realSystem.now()) });
  }
}

/** The default export or the one named `handler`; where CommonJS was compiled from a module, both stand one level deeper. */
function handlerIn(module: unknown): Handler | undefined {
  const inner = peek(module, 'default');
  const candidates = [inner, peek(module, 'handler'), peek(inner, 'default'), peek(inner, 'handler')];
  return candidates.find((candidate) => typeof candidate === 'function') as Handler | undefined;
}

async function perform(job: number, delivery: SentDelivery): Promise<void> {
  const run = new Run({ ...delivery, receipt: undefined }, 0, false);
  let thrown: Thrown = [];
  const pack = (value: unknown): Failure => {
    thrown = packThrown(value, realSystem.now());
    return IN_THE_PARENT;
  };
  current = { job, run };
  const outcome = await inline(handler, pack, schema).perform(run, keeper);
  current = undefined;
  for (const answer of asks.values()) answer(false);
  asks.clear();
  say({ kind: 'ended', job, end: outcome.kind === 'failed' ? { kind: 'threw', thrown } : bounded(outcome as Said) });
}

/** Handlers written without types say anything. */
function bounded(outcome: Said): Said {
  return outcome.kind === 'done' ? outcome : { ...outcome, why: clip(String(outcome.why ?? ''), LONGEST_WHY) };
}

const keeper: Keeper = {
  prolong(run, ms) {
    if (current?.run !== run) return Promise.resolve(false);
    const ask = ++lastAsk;
    say({ kind: 'extend', job: current.job, ask, ms });
    return new Promise((answer) => asks.set(ask, answer));
  },
};
