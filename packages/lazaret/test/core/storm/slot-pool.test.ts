import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  leaseSlots,
  readSlotPool,
  SLOT_SLICE_MS,
  type SlotPool,
  writeSlotPool,
} from '../../../src/core/storm/slot-pool.ts';

const START = 1_700_000_000_000 - (1_700_000_000_000 % (SLOT_SLICE_MS * 12));

describe('a pool of slots', () => {
  it('lends the first all that it wants, and a newcomer its share as soon as the first asks again', () => {
    const a = leaseSlots([], { by: 'a', used: 0, want: 10 }, 10, START);
    expect(a.slots).toBe(10);
    const b = leaseSlots(a.pool, { by: 'b', used: 0, want: 10 }, 10, START + 100);
    expect(b.slots).toBe(0);
    const again = leaseSlots(b.pool, { by: 'a', used: 3, want: 10 }, 10, START + 1000);
    expect(again.slots).toBe(5);
    expect(leaseSlots(again.pool, { by: 'b', used: 0, want: 10 }, 10, START + 1100).slots).toBe(5);
  });

  it('leaves what still runs to who runs it, and lets nothing take its place', () => {
    const a = leaseSlots([], { by: 'a', used: 0, want: 10 }, 10, START);
    const b = leaseSlots(a.pool, { by: 'b', used: 0, want: 10 }, 10, START);
    const again = leaseSlots(b.pool, { by: 'a', used: 8, want: 10 }, 10, START + 1000);
    expect(again.slots).toBe(5);
    expect(again.pool.find(({ by }) => by === 'a')!.slots).toBe(8);
    expect(leaseSlots(again.pool, { by: 'b', used: 0, want: 10 }, 10, START + 1100).slots).toBe(2);
  });

  it('waits for one that does not ask again until its lease is over', () => {
    const { pool } = leaseSlots([], { by: 'dead', used: 0, want: 10 }, 10, START);
    expect(leaseSlots(pool, { by: 'b', used: 0, want: 10 }, 10, START + 3_999).slots).toBe(0);
    expect(leaseSlots(pool, { by: 'b', used: 0, want: 10 }, 10, START + 4_000).slots).toBe(10);
  });

  it('takes back at once from one that leaves', () => {
    const { pool } = leaseSlots([], { by: 'a', used: 0, want: 10 }, 10, START);
    const left = leaseSlots(pool, { by: 'a', used: 0, want: 0 }, 10, START);
    expect([left.slots, left.pool]).toEqual([0, []]);
  });

  it('goes round where there are fewer than processes', () => {
    let pool: SlotPool = [];
    const turns = { a: 0, b: 0, c: 0 };
    for (let at = 0; at < 60_000; at += 500) {
      for (const by of ['a', 'b', 'c'] as const) {
        const lease = leaseSlots(pool, { by, used: 0, want: 1 }, 1, START + at);
        pool = lease.pool;
        turns[by] += lease.slots;
      }
    }
    for (const turn of Object.values(turns)) expect(turn).toBeGreaterThan(30);
  });

  it('reads what it wrote, with any name, and of anything else what fits', () => {
    const { pool } = leaseSlots([], { by: '__proto__', used: 1, want: 3 }, 10, START);
    expect(readSlotPool(writeSlotPool(pool))).toEqual(pool);
    expect(writeSlotPool([])).toBeNull();
    expect(readSlotPool(`[{"by":"x","slots":-1,"want":1,"untilAt":1}, 7, ${writeSlotPool(pool)!.slice(1)}`)).toEqual(
      pool,
    );
    for (const text of [null, '', '{}', '[[]]']) expect(readSlotPool(text)).toEqual([]);
  });

  it('never lends more than there are, whoever asks, holds, dies, is not heard, or has a slow clock', () => {
    const step = fc.record({
      who: fc.nat(5),
      afterMs: fc.nat(900),
      want: fc.nat(12),
      busy: fc.double({ min: 0, max: 1, noNaN: true }),
      fate: fc.constantFrom('lives', 'lives', 'lives', 'dies', 'unheard'),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 120 }), (limit, steps) => {
        let pool: SlotPool = [];
        let now = START;
        // What each process believes it may run, what it runs, and until when it counts on its lease.
        const processes = Array.from({ length: 6 }, () => ({ slots: 0, used: 0, until: 0 }));
        for (const { who, afterMs, want, busy, fate } of steps) {
          now += afterMs;
          // A process that could not ask in time runs nothing new; these handlers are short.
          for (const one of processes) if (one.until <= now) Object.assign(one, { slots: 0, used: 0 });
          const own = processes[who]!;
          const lease = leaseSlots(pool, { by: `p${who}`, used: own.used, want }, limit, now);
          pool = readSlotPool(writeSlotPool(lease.pool));
          expect(pool.reduce((sum, { slots }) => sum + slots, 0)).toBeLessThanOrEqual(limit);
          // Before the answer is heard it already counts on no more than what it asked for may leave.
          const slots = fate === 'unheard' ? Math.min(own.slots, lease.slots) : lease.slots;
          const used = Math.max(own.used - 1, Math.floor(slots * busy));
          const until = fate === 'unheard' ? own.until : now + 3_000;
          Object.assign(own, fate === 'dies' ? { slots: 0, used: 0, until: 0 } : { slots, used, until });
          const running = processes.reduce((sum, { used }) => sum + used, 0);
          expect(running).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 300 },
    );
  });
});
