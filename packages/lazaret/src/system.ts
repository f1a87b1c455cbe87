import { randomFillSync } from 'node:crypto';
import type { Cancel, System } from './ports/system.ts';

/** Node fires a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const COUNTER_LIMIT = 2 ** 12;
const CHANCE_DIGITS = 15;
const IDS_PER_DRAW = 1024;

/** The System of a real process: its clocks, its chance, its timers. Its ids are UUIDs of version 7, strictly increasing. */
export const realSystem: System = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  random: () => Math.random(),
  id: increasingIds(() => Date.now()),
  after,
  stayAlive,
  turn: (run) => void setImmediate(run),
};

/**
 * Waits until the monotonic clock says that `ms` have passed. One timer is not enough for that: Node counts whole
 * milliseconds from a rounded start, so a timer may fire up to 1 ms early, and none is longer than 24.8 days.
 */
function after(ms: number, run: () => void): Cancel {
  const dueAt = performance.now() + ms;
  const arm = (leftMs: number) => setTimeout(check, Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS)).unref();
  const check = () => {
    const leftMs = dueAt - performance.now();
    if (leftMs > 0) timer = arm(leftMs);
    else run();
  };
  let timer = arm(ms);
  return () => clearTimeout(timer);
}

function stayAlive(): Cancel {
  const timer = setInterval(() => undefined, LONGEST_TIMER_MS);
  return () => clearInterval(timer);
}

/**
 * Ids in the layout of RFC 9562, version 7: 48 bits of `now`, a counter of 12 bits, 60 bits of chance.
 * Each id is greater than the one before it, also within a millisecond and when the clock is set back. A counter that
 * runs over borrows from the next millisecond; it starts at random in its lower half, so that it rarely has to.
 */
export function increasingIds(now: () => number): () => string {
  const draw = Buffer.alloc(Math.ceil((IDS_PER_DRAW * CHANCE_DIGITS) / 2));
  let chance = '';
  let used = 0;
  let lastMs = -1;
  let time = '';
  let counter = 0;

  // n.b. one call into the generator costs more than hundreds of slices; and a slice of 13 or more would keep all of `chance` alive.
  const takeChance = () => {
    if (used === chance.length) {
      chance = randomFillSync(draw).toString('hex');
      used = 0;
    }
    const at = used;
    used += CHANCE_DIGITS;
    return `8${chance.slice(at, at + 3)}-${chance.slice(at + 3, used)}`;
  };

  const startMillisecond = (ms: number) => {
    const digits = ms.toString(16).padStart(12, '0');
    lastMs = ms;
    time = `${digits.slice(0, 8)}-${digits.slice(8)}`;
    counter = Number.parseInt(takeChance().slice(-3), 16) % (COUNTER_LIMIT / 2);
  };

  return () => {
    const ms = now();
    if (ms > lastMs) startMillisecond(ms);
    else if (++counter === COUNTER_LIMIT) startMillisecond(lastMs + 1);
    return `${time}-7${counter.toString(16).padStart(3, '0')}-${takeChance()}`;
  };
}
