import { describe, expect, it } from 'vitest';
import { LazaretError } from '../../../src/core/errors.ts';
import { GRACE_MS, LONGEST_START_MS } from '../../../src/runtime/isolate/member.ts';
import { scene } from './fake-processes.ts';

const MB = 1024 ** 2;
const LATE = new LazaretError('LZ1203', 'the handler passed its deadline of 15m.');

describe('the children of a pool', () => {
  it('are started when needed, up to its size, and used again', async () => {
    const { processes, perform, run, opened, settle } = scene({ size: 2 });
    const first = await opened();
    perform(run());
    perform(run());
    const third = perform(run());
    expect(processes).toHaveLength(2);
    processes[1]!.says({ kind: 'ready' });
    expect(processes[1]!.performed).toHaveLength(1);

    first.ends();
    await settle();
    expect(first.performed).toHaveLength(2);
    first.ends();
    await expect(third.ended).resolves.toEqual({ kind: 'done' });
    expect(processes).toHaveLength(2);
  });

  it('are not more than there are messages', async () => {
    const { processes, perform, run } = scene({ size: 3 });
    perform(run());
    perform(run());
    expect(processes).toHaveLength(2);
  });

  it('are not killed for a slow start once they are ready', async () => {
    const { opened, system } = scene();
    const child = await opened();
    await system.advance(2 * LONGEST_START_MS);
    expect(child.alive).toBe(true);
  });

  it('get one message at a time', async () => {
    const { processes, perform, run, opened } = scene({ size: 1 });
    const child = await opened();
    perform(run());
    perform(run());
    expect(child.performed).toHaveLength(1);
    child.ends();
    expect(child.performed).toHaveLength(2);
    expect(processes).toHaveLength(1);
  });

  it('get the message, and nothing that is the driver’s', async () => {
    const { perform, run, opened } = scene();
    const child = await opened();
    const native = { driver: 'x', version: 1, bytes: new Uint8Array(1) };
    perform(
      run({ message: { id: 'm-2', key: 'k', body: null, headers: [['a', 'b']], native }, attempt: 3, strikes: 1 }),
    );
    expect(child.performed[0]!.delivery).toEqual({
      message: { id: 'm-2', key: 'k', body: null, headers: [['a', 'b']] },
      source: { queue: 'orders' },
      attempt: 3,
      strikes: 1,
      firstSeenAt: 0,
    });
  });

  it('keep this process alive only while they work', async () => {
    const { perform, run, opened, processes } = scene();
    const child = await opened();
    expect(child.held).toBe(false);
    perform(run());
    expect(child.held).toBe(true);
    child.ends();
    expect(child.held).toBe(false);
    expect(processes).toHaveLength(1);
  });

  it('leave no timer and no child behind', async () => {
    const { pool, processes, perform, run, opened, system, alive } = scene({ size: 2 });
    await opened();
    const busy = perform(run());
    const starting = perform(run());
    const closing = pool.close();
    await system.settle();
    await closing;
    expect(alive()).toBe(0);
    expect(processes).toHaveLength(2);
    expect([busy.outcome, starting.outcome]).toMatchObject([{ kind: 'givenBack' }, { kind: 'givenBack' }]);
    await system.advance(60_000);
    expect(system.pending()).toBe(0);
  });

  it('are asked to exit while they idle, and killed when they do not', async () => {
    const { pool, opened, system } = scene();
    const child = await opened();
    let closed = false;
    const closing = pool.close().then(() => {
      closed = true;
    });
    expect(child.dismissed).toBe(true);
    await system.advance(GRACE_MS - 1);
    expect(closed).toBe(false);
    await system.advance(1);
    await closing;
    expect(child.alive).toBe(false);
  });

  it('are not started any more once it is closed', async () => {
    const { pool, perform, run, processes, opened, system } = scene();
    const child = await opened();
    const closing = pool.close();
    child.exits('exit code 0');
    await closing;
    await expect(perform(run()).ended).resolves.toMatchObject({ kind: 'givenBack', delayMs: 0 });
    await system.advance(60_000);
    expect(processes).toHaveLength(1);
  });

  it('that die while they idle are nobody’s fault, and replaced when needed', async () => {
    const { perform, run, processes, opened } = scene();
    const child = await opened();
    child.exits('signal SIGKILL');
    const one = run();
    const performing = perform(one);
    processes[1]!.says({ kind: 'ready' });
    processes[1]!.ends();
    await expect(performing.ended).resolves.toEqual({ kind: 'done' });
    expect(one.deaths).toBe(0);
  });
});

describe('how a run in a child ends', () => {
  it.each([
    [{ kind: 'done' }, { kind: 'done' }],
    [
      { kind: 'skip', why: 'a test order' },
      { kind: 'skip', why: 'a test order' },
    ],
    [
      { kind: 'retryIn', delayMs: 5000, why: 'closed' },
      { kind: 'retryIn', delayMs: 5000, why: 'closed' },
    ],
    [
      { kind: 'threw', thrown: [{ type: 'object', name: 'Poison', message: 'no', brand: 'poison' }] },
      { kind: 'failed', failure: { kind: 'poison', rule: 'Poison', error: { message: 'no' } } },
    ],
  ] as const)('is what it says: %o', async (end, outcome) => {
    const { perform, run, opened } = scene();
    const child = await opened();
    const performing = perform(run());
    child.ends(end);
    await expect(performing.ended).resolves.toMatchObject(outcome);
  });

  it('answers an extension with what the broker said', async () => {
    const { perform, run, opened, prolonged, settle } = scene();
    const child = await opened();
    perform(run());
    child.says({ kind: 'extend', job: child.job, ask: 7, ms: 120_000 });
    await settle();
    expect(prolonged).toEqual([120_000]);
    expect(child.heard.at(-1)).toEqual({ kind: 'extended', ask: 7, ours: true });
  });
});

describe('a child that dies', () => {
  it('costs its message one run: it runs again at once, in a child that has run nothing', async () => {
    const { perform, run, processes, opened, settle } = scene({ size: 2 });
    const child = await opened();
    perform(run());
    const neighbour = perform(run());
    processes[1]!.says({ kind: 'ready' });
    const one = run();
    child.ends();
    const performing = perform(one);
    child.exits('exit code 137');
    await settle();
    processes[1]!.ends();
    await expect(neighbour.ended).resolves.toEqual({ kind: 'done' });
    expect(one.deaths).toBe(1);
    expect(processes[1]!.performed).toHaveLength(1);

    processes[2]!.says({ kind: 'ready' });
    expect(processes[2]!.performed[0]!.delivery.strikes).toBe(1);
    processes[2]!.ends();
    await expect(performing.ended).resolves.toEqual({ kind: 'done' });
  });

  it('convicts its message at the second time, and says how it died', async () => {
    const { perform, run, processes, opened, settle } = scene();
    const child = await opened();
    const one = run();
    const performing = perform(one);
    child.exits('exit code 137');
    await settle();
    processes[1]!.says({ kind: 'ready' });
    processes[1]!.says({ kind: 'dying', of: 'TypeError: x is not a function' });
    processes[1]!.exits('exit code 1');
    await expect(performing.ended).resolves.toEqual({
      kind: 'refused',
      reason: 'crash',
      why: 'the process of its handler died 2 times, the last time of exit code 1 after TypeError: x is not a function',
    });
    expect(one.deaths).toBe(2);
  });

  it('is forgotten once its message has ended otherwise', async () => {
    const { perform, run, processes, opened, settle } = scene({ size: 1 });
    const one = run();
    for (let round = 0; round < 3; round++) {
      if (round === 0) await opened();
      const performing = perform(one);
      processes.at(-1)!.exits();
      await settle();
      processes.at(-1)!.says({ kind: 'ready' });
      processes.at(-1)!.ends({ kind: 'threw', thrown: [{ type: 'string', text: 'boom' }] });
      await expect(performing.ended).resolves.toMatchObject({ kind: 'failed' });
    }
  });

  it('harms nobody who waits for a child', async () => {
    const { perform, run, processes, opened, settle } = scene({ size: 1 });
    const child = await opened();
    const killer = perform(run());
    const waits = run();
    const waiting = perform(waits);
    child.exits();
    await settle();
    processes[1]!.says({ kind: 'ready' });
    processes[1]!.ends();
    await settle();
    for (const process of processes.slice(2)) process.says({ kind: 'ready' });
    processes.at(-1)!.ends();
    await expect(killer.ended).resolves.toEqual({ kind: 'done' });
    await expect(waiting.ended).resolves.toEqual({ kind: 'done' });
    expect(waits.deaths).toBe(0);
  });
});

describe('a child that lies', () => {
  it.each([
    ['about another message', { kind: 'ended', job: 99, end: { kind: 'done' } }],
    ['about another message’s time', { kind: 'extend', job: 99, ask: 1, ms: 1 }],
    ['that it got ready again', { kind: 'ready' }],
  ] as const)('is killed: %s', async (_, reply) => {
    const { perform, run, opened, prolonged, settle } = scene();
    const child = await opened();
    const one = run();
    const performing = perform(one);
    child.says(reply);
    child.ends();
    await settle();
    expect(child.alive).toBe(false);
    expect(performing.outcome).toBeUndefined();
    expect(one.deaths).toBe(1);
    expect(prolonged).toEqual([]);
  });

  it.each([
    ['that it ended what nobody asked for', { kind: 'ended', job: 0, end: { kind: 'done' } }],
    ['that it got ready again', { kind: 'ready' }],
  ] as const)('is killed while it idles: %s', async (_, reply) => {
    const { opened, settle } = scene();
    const child = await opened();
    child.says(reply);
    await settle();
    expect(child.alive).toBe(false);
  });
});

describe('a run that is aborted', () => {
  it('is told so, and its child killed after a grace', async () => {
    const { perform, run, opened, system } = scene();
    const child = await opened();
    const one = run();
    const performing = perform(one);
    one.abort(LATE);
    expect(child.aborts).toEqual([{ kind: 'abort', job: child.job, code: 'LZ1203', message: LATE.message }]);
    await system.advance(GRACE_MS - 1);
    expect(child.alive).toBe(true);
    await system.advance(1);
    await expect(performing.ended).resolves.toMatchObject({ kind: 'givenBack' });
    expect(child.alive).toBe(false);
    expect(one.deaths).toBe(0);
  });

  it('spares a child whose handler ends in time', async () => {
    const { perform, run, opened, system } = scene();
    const child = await opened();
    const one = run();
    perform(one);
    one.abort(LATE);
    child.ends({ kind: 'threw', thrown: [{ type: 'string', text: 'aborted' }] });
    await system.advance(10 * GRACE_MS);
    expect(child.alive).toBe(true);
    const next = perform(run());
    child.ends();
    await expect(next.ended).resolves.toEqual({ kind: 'done' });
  });

  it('is over only when its child is', async () => {
    const { perform, run, opened, system } = scene();
    const child = await opened();
    child.dies = false;
    const one = run();
    const performing = perform(one);
    one.abort(LATE);
    await system.advance(60_000);
    expect(performing.outcome).toBeUndefined();
    child.exits('signal SIGKILL');
    await expect(performing.ended).resolves.toMatchObject({ kind: 'givenBack' });
  });

  it('keeps nobody waiting: its grace ends when another needs the place', async () => {
    const { perform, run, processes, opened, system, alive } = scene({ size: 1 });
    const child = await opened();
    const one = run();
    perform(one);
    one.abort(LATE);
    const next = perform(run());
    await system.settle();
    expect(child.alive).toBe(false);
    expect(alive()).toBe(1);
    processes[1]!.says({ kind: 'ready' });
    processes[1]!.ends();
    await expect(next.ended).resolves.toEqual({ kind: 'done' });
  });

  it('keeps nobody waiting, even if its child is stuck', async () => {
    const { perform, run, processes, opened } = scene({ size: 1 });
    const child = await opened();
    child.dies = false;
    const one = run();
    perform(one);
    one.abort(LATE);
    perform(run());
    expect(processes).toHaveLength(2);
  });

  it('is not begun when it was aborted before', async () => {
    const { perform, run, opened } = scene();
    const child = await opened();
    const one = run();
    one.begin();
    one.abort(LATE);
    await expect(perform(one).ended).resolves.toMatchObject({ kind: 'givenBack' });
    expect(child.performed).toEqual([]);
  });

  it('is not begun any more when it still waits', async () => {
    const { perform, run, processes, settle } = scene();
    const one = run();
    const performing = perform(one);
    one.abort(LATE);
    await expect(performing.ended).resolves.toMatchObject({ kind: 'givenBack' });
    processes[0]!.says({ kind: 'ready' });
    await settle();
    expect(processes[0]!.performed).toEqual([]);
  });

  it('gets no more time', async () => {
    const { perform, run, opened, prolonged } = scene();
    const child = await opened();
    const one = run();
    perform(one);
    one.abort(LATE);
    child.says({ kind: 'extend', job: child.job, ask: 1, ms: 1000 });
    expect(child.heard.at(-1)).toEqual({ kind: 'extended', ask: 1, ours: false });
    expect(prolonged).toEqual([]);
  });
});

describe('the deadline of a run', () => {
  it('counts from when its handler begins', async () => {
    const { perform, run, processes, system } = scene();
    const one = run();
    one.deadlineAt = system.monotonic() + 5000;
    perform(one);
    await system.advance(2000);
    processes[0]!.says({ kind: 'ready' });
    expect(one.deadlineAt - system.monotonic()).toBe(5000);
  });

  it('is told to the watch again when a start outlasted it', async () => {
    const { perform, run, processes, system, prolonged } = scene();
    const one = run();
    one.deadlineAt = system.monotonic() + 300;
    perform(one);
    await system.advance(2000);
    expect(one.deadlineAt).toBeGreaterThan(system.monotonic());
    processes[0]!.says({ kind: 'ready' });
    expect(one.deadlineAt - system.monotonic()).toBe(300);
    expect(prolonged).toEqual([300]);
  });

  it('is not touched where a child is free', async () => {
    const { perform, run, opened, prolonged } = scene();
    await opened();
    const one = run();
    const { deadlineAt } = one;
    perform(one);
    expect(one.deadlineAt).toBe(deadlineAt);
    expect(prolonged).toEqual([]);
  });
});

describe('the memory of a child', () => {
  it('is looked at while it works, and too much of it is its death', async () => {
    const { perform, run, processes, opened, system } = scene({ memoryBytes: 64 * MB });
    const child = await opened();
    child.usedBytes = 64 * MB;
    const one = run();
    const performing = perform(one);
    await system.advance(1000);
    expect(child.alive).toBe(true);
    child.usedBytes = 91 * MB;
    await system.advance(100);
    expect(child.alive).toBe(false);
    expect(one.deaths).toBe(1);

    processes[1]!.says({ kind: 'ready' });
    processes[1]!.usedBytes = 92 * MB + 17;
    await system.advance(100);
    await expect(performing.ended).resolves.toEqual({
      kind: 'refused',
      reason: 'crash',
      why: 'the process of its handler died 2 times, the last time of signal SIGKILL for passing its memory limit, having used 92mb of at most 64mb',
    });
  });

  it('is no reason to kill it where no limit was given', async () => {
    const { perform, run, opened, system } = scene();
    const child = await opened();
    child.usedBytes = 4096 * MB;
    perform(run());
    await system.advance(1000);
    expect(child.alive).toBe(true);
  });

  it('costs one timer, however many work', async () => {
    const { perform, run, opened, processes, system } = scene({ memoryBytes: 64 * MB });
    await opened();
    perform(run());
    perform(run());
    processes[1]!.says({ kind: 'ready' });
    await system.advance(1000);
    expect(system.pending()).toBe(1);
  });

  it('costs no timer while all idle', async () => {
    const { perform, run, opened, system } = scene({ memoryBytes: 64 * MB });
    const child = await opened();
    perform(run());
    child.ends();
    await system.advance(1000);
    expect(system.pending()).toBe(0);
  });
});

describe('a handler that cannot be had', () => {
  it.each([
    ['LZ1202', { kind: 'unfit' }, /orders\.js' exports no function/],
    [
      'LZ1201',
      { kind: 'unloadable', thrown: [{ type: 'object', name: 'SyntaxError', message: 'Unexpected token' }] },
      /Unexpected token/,
    ],
  ] as const)('is refused at the start: %s', async (code, reply, message) => {
    const { pool, processes, alive, settle } = scene();
    const refused = expect(pool.open()).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    processes[0]!.says(reply);
    await settle();
    await refused;
    expect(alive()).toBe(0);
    expect(processes).toHaveLength(1);
  });

  it('is refused at the start: its process ends', async () => {
    const { pool, processes } = scene();
    const opening = pool.open();
    processes[0]!.exits('exit code 3');
    await expect(opening).rejects.toMatchObject({ code: 'LZ1205', message: expect.stringContaining('exit code 3') });
  });

  it('is refused at the start: it never finishes', async () => {
    const { pool, system } = scene();
    const opening = pool.open();
    opening.catch(() => undefined);
    await system.advance(LONGEST_START_MS);
    await expect(opening).rejects.toMatchObject({ code: 'LZ1201', message: expect.stringContaining('30 s') });
  });

  it('later convicts nobody: messages are given back, ever longer, and tried again', async () => {
    const { perform, run, processes, opened, settle } = scene({ size: 1 });
    (await opened()).exits('signal SIGKILL');
    const waits: unknown[] = [];
    for (let round = 0; round < 8; round++) {
      const performing = perform(run());
      processes.at(-1)!.exits('exit code 1');
      waits.push(await performing.ended);
      await settle();
    }
    expect(waits.map((outcome) => (outcome as { delayMs: number }).delayMs)).toEqual([
      1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000,
    ]);
    expect(waits[0]).toMatchObject({ kind: 'givenBack', why: expect.stringContaining('exit code 1') });

    const performing = perform(run());
    processes.at(-1)!.says({ kind: 'ready' });
    processes.at(-1)!.ends();
    await expect(performing.ended).resolves.toEqual({ kind: 'done' });
    expect(processes).toHaveLength(10);

    processes.at(-1)!.exits();
    const after = perform(run());
    processes.at(-1)!.exits();
    await expect(after.ended).resolves.toMatchObject({ delayMs: 1000 });
  });
});
