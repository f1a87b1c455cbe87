import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { classify } from '../../../src/core/classify.ts';
import { consumerPolicy } from '../../../src/core/options.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import type { Delivery } from '../../../src/ports/broker.ts';
import type { Performer } from '../../../src/runtime/inline.ts';
import { inline } from '../../../src/runtime/inline.ts';
import { othersAreSeen } from '../../../src/runtime/isolate/memory-use.ts';
import { isolated } from '../../../src/runtime/isolate/pool.ts';
import { Run } from '../../../src/runtime/run.ts';
import { realSystem } from '../../../src/system.ts';
import { refusal } from '../../core/refusal.ts';
import { HANDLERS, loaded, PARENT, THROWN } from './handlers.ts';
import { isGone, lives, pause } from './processes.ts';

/** Real children in real time: what each of them does is in `handlers/`, compiled as little as a user's file is. */

const open: Performer[] = [];

function pool(handler: URL, { concurrency = 1, memory = '' } = {}): Performer {
  const isolate = memory === '' ? 'process' : { memory };
  const made = isolated(handler, isolate, consumerPolicy({ concurrency }), fail, realSystem);
  open.push(made);
  return made;
}

const fail = (thrown: unknown) => classify(thrown, {}, realSystem.now());
const keeper = { prolong: async () => true, need: () => undefined, waits: () => 0, begins: () => true };

function runOf(body: string, delivery: Partial<Delivery> = {}): Run {
  const message = { id: 'm-1', body: new TextEncoder().encode(body), headers: [] };
  const source = { queue: 'orders' };
  const run = { message, source, receipt: {}, attempt: 1, firstSeenAt: 0, ...delivery };
  return new Run(run, realSystem.monotonic());
}

function perform(performer: Performer, run: Run | string): Promise<Outcome> {
  return Promise.resolve(performer.perform(typeof run === 'string' ? runOf(run) : run, keeper));
}

function told(outcome: Outcome): unknown {
  if (outcome.kind !== 'quarantine') throw new Error(`nothing was told: ${JSON.stringify(outcome)}`);
  return JSON.parse(outcome.why);
}

async function pidOf(performer: Performer): Promise<number> {
  return (told(await perform(performer, 'tellsItsProcess')) as { pid: number }).pid;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((performer) => performer.close?.()));
});

describe('a handler in a process of its own', () => {
  it('ends its runs as it would here', async () => {
    const acts = pool(HANDLERS.acts);
    await acts.open?.();
    expect(await perform(acts, 'returns')).toEqual({ kind: 'done' });
    expect(await perform(acts, 'skips')).toEqual({ kind: 'skip', why: 'a test order' });
    expect(await perform(acts, 'skipsWithoutWords')).toEqual({ kind: 'skip', why: '' });
    expect(await perform(acts, 'quarantines')).toEqual({ kind: 'quarantine', why: 'not ours' });
    expect(await perform(acts, 'retriesIn')).toEqual({ kind: 'retryIn', delayMs: 300_000, why: 'the bank is closed' });
    expect(await perform(acts, 'extends')).toEqual({ kind: 'quarantine', why: 'ours: true' });
    expect(await perform(acts, 'throwsPoison')).toMatchObject({
      kind: 'failed',
      failure: { kind: 'poison', error: { message: 'customer is empty', stack: expect.stringContaining('acts.js') } },
    });
  });

  it('sees its message and context as it would here', async () => {
    const message = {
      id: 'm-7',
      key: 'k',
      body: new Uint8Array([0, 255, 128]),
      headers: [
        ['act', 'tellsItsMessage'] as const,
        ['x', new Uint8Array([1, 255])] as const,
        ['__proto__', 'y'] as const,
      ],
    };
    const delivery = { message, attempt: 3, strikes: 1, firstSeenAt: 17, source: { queue: 'orders', position: 'p-1' } };
    const performers = [pool(HANDLERS.acts), inline(await loaded(HANDLERS.acts), fail)];
    const [there, here] = await Promise.all(performers.map((performer) => perform(performer, runOf('', delivery))));
    expect(told(there!)).toEqual(told(here!));
    expect(told(there!)).toMatchObject({ attempt: 3, strikes: 1, body: [0, 255, 128], idempotencyKey: 'm-7' });
  });

  it('has what it throws classified as it would be here', async () => {
    const there = pool(HANDLERS.thrownValues, { concurrency: 2 });
    const here = inline(await loaded(HANDLERS.thrownValues), fail);
    for (const name of Object.keys(THROWN)) {
      const [isolatedOutcome, inlineOutcome] = await Promise.all([perform(there, name), perform(here, name)]);
      expect([name, essence(isolatedOutcome)]).toEqual([name, essence(inlineOutcome)]);
    }
  });

  /** Stacks differ: they were thrown in different places. */
  function essence(outcome: Outcome): unknown {
    return JSON.parse(JSON.stringify(outcome, (key, value) => (key === 'stack' ? typeof value : value)));
  }

  it('gets no time for a message that it has ended', async () => {
    const acts = pool(HANDLERS.acts);
    await perform(acts, 'returnsEarly');
    expect(await perform(acts, 'extendsAnEarlierOne')).toEqual({ kind: 'quarantine', why: 'ours: false' });
  });

  it('is looked for by default and by name, in modules of both kinds', async () => {
    expect(await perform(pool(HANDLERS.commonJs), '')).toEqual({ kind: 'skip', why: 'compiled to CommonJS' });
    expect(await perform(pool(HANDLERS.withSchema), '{"sku":" a-1 "}')).toEqual({ kind: 'skip', why: 'sku a-1' });
  });

  it('gets only what the schema of its file lets through', async () => {
    const checked = pool(HANDLERS.withSchema);
    expect(await perform(checked, '{"sku":1}')).toMatchObject({ kind: 'failed', failure: { reason: 'schema' } });
    expect(await perform(checked, 'no JSON')).toMatchObject({ kind: 'failed', failure: { reason: 'undecodable' } });
  });

  it('uses a process again, and another one beside it', async () => {
    const acts = pool(HANDLERS.acts, { concurrency: 2 });
    const first = told(await perform(acts, 'tellsItsProcess')) as { pid: number; performed: number };
    const again = told(await perform(acts, 'tellsItsProcess'));
    expect(again).toEqual({ pid: first.pid, performed: first.performed + 1 });

    const slow = runOf('waitsForAbort');
    const waiting = perform(acts, slow);
    const pids = [process.pid, first.pid];
    expect(pids).not.toContain(await pidOf(acts));
    slow.abort(new Error('enough'));
    await waiting;
  });

  it('finds no channel of Node to speak on', async () => {
    expect(told(await perform(pool(HANDLERS.acts), 'tellsItsChannel'))).toEqual(['undefined', 'undefined', null]);
  });

  it('is not ended by a signal to the whole group, which its parent answers', async () => {
    const acts = pool(HANDLERS.acts);
    const pid = await pidOf(acts);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal);
    expect(await pidOf(acts)).toBe(pid);
  });
});

describe('a handler that kills its process', () => {
  it.each([
    ['exits', /exit code 137/],
    ['aborts', /signal SIG(ABRT|ILL|TRAP)/],
    ['killsItself', /signal SIGKILL/],
    ['failsElsewhere', /exit code 1 after TypeError: nobody waits for this/],
    ['closesThePipe', /signal SIGKILL|exit code/],
    ['writesRubbish', /writing what no child of ours writes/],
    ['forges', /writing what no child of ours writes/],
    ['announcesTooMuch', /writing what no child of ours writes/],
  ])('is convicted at the second time: %s', async (act, why) => {
    const run = runOf(act);
    const outcome = await perform(pool(HANDLERS.acts), run);
    expect(outcome).toEqual({ kind: 'refused', reason: 'crash', why: expect.stringMatching(why) });
    expect(run.deaths).toBe(2);
  });

  it('once, runs again at once', async () => {
    const run = runOf('exitsOnce');
    expect(await perform(pool(HANDLERS.acts), run)).toEqual({ kind: 'done' });
    expect(run.deaths).toBe(1);
  });

  it('harms no neighbour, and not who comes after', async () => {
    const acts = pool(HANDLERS.acts, { concurrency: 2 });
    const neighbour = runOf('waitsForAbort');
    const waiting = perform(acts, neighbour);
    expect(await perform(acts, 'exits')).toMatchObject({ kind: 'refused', reason: 'crash' });
    expect(await perform(acts, 'returns')).toEqual({ kind: 'done' });
    expect(neighbour.deaths).toBe(0);
    neighbour.abort(new Error('enough'));
    expect(await waiting).toMatchObject({ kind: 'givenBack' });
  });

  it('after its message was done costs the next one a run, not its life', async () => {
    const acts = pool(HANDLERS.acts);
    for (let round = 0; round < 3; round++) {
      expect(await perform(acts, 'leavesABomb')).toEqual({ kind: 'done' });
      expect(await perform(acts, 'returns')).toEqual({ kind: 'done' });
    }
  });
});

describe('the memory limit', () => {
  it('of a heap is V8’s own', async () => {
    const outcome = await perform(pool(HANDLERS.acts, { memory: '64mb' }), 'growsItsHeap');
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'crash', why: expect.stringMatching(/signal SIG/) });
  });

  it.runIf(othersAreSeen)('holds for what lies outside the heap', async () => {
    const outcome = await perform(pool(HANDLERS.acts, { memory: '64mb' }), 'growsBuffers');
    const why = /signal SIGKILL for passing its memory limit, having used \d+mb of at most 64mb/;
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'crash', why: expect.stringMatching(why) });
  });

  it('leaves garbage alone that can be collected', async () => {
    expect(await perform(pool(HANDLERS.acts, { memory: '64mb' }), 'makesGarbage')).toEqual({ kind: 'done' });
  });

  it('is refused where no process fits into it', () => {
    expect(refusal(() => pool(HANDLERS.acts, { memory: '20mb' }))).toMatchObject({ code: 'LZ1003' });
  });
});

describe('an aborted handler', () => {
  it('that never looks up is killed', async () => {
    const acts = pool(HANDLERS.acts);
    const pid = await pidOf(acts);
    const run = runOf('loops');
    const performing = perform(acts, run);
    await pause(50);
    run.abort(new Error('late'));
    expect(await performing).toMatchObject({ kind: 'givenBack' });
    expect(lives(pid)).toBe(false);
    expect(await perform(acts, 'returns')).toEqual({ kind: 'done' });
  });

  it('that looks up keeps its process', async () => {
    const acts = pool(HANDLERS.acts);
    const pid = await pidOf(acts);
    const run = runOf('waitsForAbort');
    const performing = perform(acts, run);
    await pause(50);
    run.abort(new Error('late'));
    expect(await performing).toMatchObject({ kind: 'givenBack' });
    expect(await pidOf(acts)).toBe(pid);
  });
});

describe('a handler file that cannot be used', () => {
  it.each([
    ['missing', 'LZ1201', /missing\.js/],
    ['broken', 'LZ1201', /no such setting/],
    ['noFunction', 'LZ1202', /exports no function/],
    ['exitsAtOnce', 'LZ1205', /exit code 3/],
  ] as const)('is refused at the start: %s', async (file, code, message) => {
    await expect(pool(HANDLERS[file]).open?.()).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  it('convicts no message', async () => {
    const outcome = await perform(pool(HANDLERS.broken), 'returns');
    expect(outcome).toEqual({ kind: 'givenBack', delayMs: 1000, why: expect.stringContaining('no such setting') });
  });
});

describe('children', () => {
  it('are gone when the pool is closed, whatever they do', async () => {
    const acts = pool(HANDLERS.acts, { concurrency: 2 });
    const idle = await pidOf(acts);
    const loop = perform(acts, 'loops');
    const busy = await pidOf(acts);
    expect(busy).not.toBe(idle);
    await acts.close?.();
    expect([lives(idle), lives(busy)]).toEqual([false, false]);
    expect(await loop).toMatchObject({ kind: 'givenBack' });
  });

  it('that idle may tidy up when the pool is closed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lazaret-'));
    const file = join(folder, 'tidy');
    const acts = pool(HANDLERS.acts);
    const headers = [['file', file] as const];
    await perform(acts, runOf('', { message: { body: Buffer.from('tidiesUpAtItsExit'), headers } }));
    await acts.close?.();
    expect(readFileSync(file, 'utf8')).toBe('tidy');
    rmSync(folder, { recursive: true });
  });

  it('do not outlive a parent that is killed, not even in a loop', async () => {
    const parent = spawn(process.execPath, [fileURLToPath(PARENT)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pids: number[] = [];
    for await (const line of createInterface({ input: parent.stdout })) {
      pids.push(Number(line));
      if (pids.length === 2) break;
    }
    expect(pids.map(lives)).toEqual([true, true]);
    parent.kill('SIGKILL');
    expect(await Promise.all(pids.map(isGone))).toEqual([true, true]);
  });
});
