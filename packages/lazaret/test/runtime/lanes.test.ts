import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_HEADERS } from '../../src/core/message.ts';
import { keyLanes } from '../../src/runtime/lanes.ts';
import { Run } from '../../src/runtime/run.ts';

function runOf(key: string | undefined): Run {
  const message = { ...(key === undefined ? {} : { key }), body: null, headers: NO_HEADERS };
  return new Run({ message, source: { queue: 'q' }, receipt: undefined, attempt: 1, firstSeenAt: 0 }, 0);
}

describe('key lanes', () => {
  it('let the next of a key start only when the one before it has left', () => {
    const all = keyLanes(10);
    const [first, second, third] = [runOf('a'), runOf('a'), runOf('a')];
    expect([all.enter(first), all.enter(second), all.enter(third)]).toEqual([true, false, false]);
    expect(all.leave(first)).toBe(second);
    expect(all.leave(second)).toBe(third);
    expect(all.leave(third)).toBeUndefined();
    expect(all.enter(runOf('a'))).toBe(true);
  });

  it('let one that heads its key enter again', () => {
    const all = keyLanes(10);
    const held = runOf('a');
    all.enter(held);
    expect(all.enter(held)).toBe(true);
    expect(all.enter(runOf('a'))).toBe(false);
  });

  it('forget one that leaves while it waits', () => {
    const all = keyLanes(10);
    const [first, second, third] = [runOf('a'), runOf('a'), runOf('a')];
    for (const run of [first, second, third]) all.enter(run);
    expect(all.leave(second)).toBeUndefined();
    expect(all.leave(first)).toBe(third);
  });

  it('hold nobody back without a key', () => {
    const all = keyLanes(1);
    expect([all.enter(runOf(undefined)), all.enter(runOf(undefined))]).toEqual([true, true]);
    expect(all.waiting).toBe(0);
  });

  it('are full while as many wait behind one key as may', () => {
    const all = keyLanes(2);
    const head = runOf('a');
    all.enter(head);
    all.enter(runOf('a'));
    expect(all.full).toBe(false);
    all.enter(runOf('a'));
    expect(all.full).toBe(true);
    all.leave(head);
    expect(all.full).toBe(false);
  });

  it('start the messages of every key in the order they came, one at a time, whatever leaves or scatters between', () => {
    const step = fc.record({ verb: fc.constantFrom('enter', 'leave', 'scatter'), key: fc.constantFrom('a', 'b', 'c') });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const all = keyLanes(3);
        const model = new Map<string, Run[]>();
        for (const { verb, key } of steps) {
          const queue = model.get(key) ?? [];
          model.set(key, queue);
          if (verb === 'enter') {
            const run = runOf(key);
            expect(all.enter(run)).toBe(queue.length === 0);
            queue.push(run);
          } else if (queue.length > 0 && verb === 'leave') {
            expect(all.leave(queue.shift()!)).toBe(queue[0]);
          } else if (queue.length > 0) {
            expect(all.scatter(queue.shift()!)).toEqual(queue.splice(0));
          }
          const waiting = [...model.values()].map((line) => Math.max(0, line.length - 1));
          expect(all.waiting).toBe(waiting.reduce((sum, count) => sum + count, 0));
          expect(all.full).toBe(waiting.some((count) => count >= 3));
        }
      }),
    );
  });
});
