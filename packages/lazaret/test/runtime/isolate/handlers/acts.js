import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { Poison } from '../../../../dist/core/failures.js';

const MB = 1024 ** 2;
const STDERR = 2;
const PIPE = 3;

let performed = 0;
let earlier;

/** What Node writes about a death that a test wants is no news. */
function quietly(act) {
  return (message, ctx) => {
    closeSync(STDERR);
    openSync(devNull, 'w');
    return act(message, ctx);
  };
}

/** What a message asks for by its body. */
const acts = {
  returns: () => undefined,
  throwsPoison() {
    throw new Poison('customer is empty');
  },
  retriesIn: (_, ctx) => ctx.retryIn('5m', 'the bank is closed'),
  skips: (_, ctx) => ctx.skip('a test order'),
  quarantines: (_, ctx) => ctx.quarantine('not ours'),
  skipsWithoutWords: (_, ctx) => ctx.skip(),

  /** Tells what it sees, through the only channel that everybody has. */
  tellsItsProcess: (_, ctx) => ctx.quarantine(JSON.stringify({ pid: process.pid, performed })),
  tellsItsMessage: ({ id, key, body, headers }, ctx) =>
    ctx.quarantine(
      JSON.stringify({
        id,
        key,
        body: body === null ? null : [...body],
        headers: headers.map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
        queue: ctx.queue,
        attempt: ctx.attempt,
        strikes: ctx.strikes,
        firstSeenAt: ctx.firstSeenAt,
        idempotencyKey: ctx.idempotencyKey,
      }),
    ),
  tellsItsChannel: (_, ctx) =>
    ctx.quarantine(JSON.stringify([typeof process.send, typeof process.disconnect, process.connected ?? null])),
  extends: async (_, ctx) => ctx.quarantine(`ours: ${await ctx.extend('2m')}`),
  returnsEarly(_, ctx) {
    earlier = ctx;
  },
  extendsAnEarlierOne: async (_, ctx) => ctx.quarantine(`ours: ${await earlier.extend('2m')}`),
  waitsForAbort: (_, ctx) =>
    new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
    }),

  tidiesUpAtItsExit: (message) => void process.once('exit', () => writeFileSync(message.header('file'), 'tidy')),
  exits: () => process.exit(137),
  exitsOnce: (_, ctx) => (ctx.strikes === 0 ? process.exit(1) : undefined),
  aborts: quietly(() => process.abort()),
  killsItself: () => process.kill(process.pid, 'SIGKILL'),
  leavesABomb: quietly(() => {
    setImmediate().then(() => Promise.reject(new TypeError('thrown behind its back')));
  }),
  failsElsewhere: quietly(() => {
    setImmediate().then(() => Promise.reject(new TypeError('nobody waits for this')));
    return new Promise(() => undefined);
  }),
  neverEnds: () => new Promise(() => undefined),
  loops() {
    for (;;);
  },
  growsItsHeap: quietly(() => {
    const kept = [];
    for (;;) kept.push(new Array(10_000).fill(kept.length));
  }),
  async growsBuffers() {
    const kept = [];
    for (;;) {
      kept.push(Buffer.alloc(2 * MB, 1));
      await setImmediate();
    }
  },
  async makesGarbage() {
    let text = '';
    for (let round = 0; round < 200; round++) {
      for (let at = 0; at < 5_000; at++) text = JSON.stringify({ round, at, text: text.slice(0, 100) });
      await setImmediate();
    }
  },

  closesThePipe() {
    closeSync(PIPE);
    return new Promise(() => undefined);
  },
  writesRubbish: () => void writeSync(PIPE, 'rubbish that is no frame') ?? new Promise(() => undefined),
  forges(_, ctx) {
    const reply = Buffer.from(JSON.stringify({ kind: 'ended', job: 1, end: { kind: 'done' } }));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(reply.length);
    writeSync(PIPE, Buffer.concat([length, reply]));
    return new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', reject));
  },
  announcesTooMuch() {
    writeSync(PIPE, Buffer.from([0x7f, 0xff, 0xff, 0xff]));
    return new Promise(() => undefined);
  },
};

export default (message, ctx) => {
  const act = acts[message.header('act') ?? message.text()];
  try {
    return act(message, ctx);
  } finally {
    performed++;
  }
};
