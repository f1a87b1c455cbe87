import { describe, expect, it } from 'vitest';
import { type ConsumeOptions, consumerPolicy } from '../../src/core/options.ts';
import { consumerOrigins } from '../../src/core/origins.ts';
import { renderOrigins, renderTimetable, timetable } from '../../src/core/timetable.ts';

const POISON = 'poison (Poison, DecodeError, schema, HTTP 400/410/422, SQLSTATE 22, 23): quarantine on attempt 1';

const lines = (options: ConsumeOptions, handlerP99Ms?: number): string[] => {
  const facts = handlerP99Ms === undefined ? {} : { handlerP99Ms };
  return renderTimetable(timetable(consumerPolicy(options), facts)).split('\n');
};
const chain = (options: ConsumeOptions): string => lines(options)[0]!;
const waits = (options: ConsumeOptions): string[] =>
  [...chain(options).matchAll(/wait (.*?) ─/g)].map(([, wait]) => wait!);

describe('renderTimetable', () => {
  it('tells the default as the docs do', () => {
    expect(lines({}, 41_000)).toEqual([
      'attempt 1 ─ fails ─ wait 2 s (1.6–2.4) ─ attempt 2 ─ wait 8 s (6.4–9.6) ─ attempt 3 ─ wait 30 s (24–36) ─ attempt 4 ─ fails ─ quarantine',
      'worst case to quarantine: 48 s of waiting + 4 × handler (p99 41 s) = 3 m 32 s',
      POISON,
    ]);
  });

  it('reckons a handler that nobody measured with its timeout', () => {
    expect(lines({ timeout: '5m' })[1]).toBe(
      'worst case to quarantine: 48 s of waiting + 4 × handler (timeout 5 m) = 20 m 48 s',
    );
  });

  it('rounds what takes a minute or more up to seconds', () => {
    expect(lines({ maxAttempts: 1, timeout: '61.2s' })[1]).toMatch(/timeout 1 m 2 s\) = 1 m 2 s$/);
    expect(lines({ maxAttempts: 1, timeout: '59.2s' })[1]).toMatch(/timeout 59\.2 s\) = 59\.2 s$/);
  });

  it('tells a single attempt', () => {
    expect(lines({ maxAttempts: 1, timeout: '1m' })).toEqual([
      'attempt 1 ─ fails ─ quarantine',
      'worst case to quarantine: no waiting + 1 × handler (timeout 1 m) = 1 m',
      POISON,
    ]);
  });

  it('shows six attempts in full, and says that the last delay repeats', () => {
    const [attempts, , , repeats] = lines({ backoff: 'ladder' });
    expect(attempts).toBe(
      'attempt 1 ─ fails ─ wait 5 s (4–6) ─ attempt 2 ─ wait 15 s (12–18) ─ attempt 3 ─ wait 45 s (36–54) ─ attempt 4' +
        ' ─ wait 45 s (36–54) ─ attempt 5 ─ wait 45 s (36–54) ─ attempt 6 ─ fails ─ quarantine',
    );
    expect(repeats).toBe('the backoff names 3 delays for 5 waits: 45 s repeats');
  });

  it('abbreviates more than six', () => {
    expect(chain({ backoff: 'exponential', maxAttempts: 20 })).toBe(
      'attempt 1 ─ fails ─ wait 1 s (0.8–1.2) ─ attempt 2 ─ wait 2 s (1.6–2.4) ─ attempt 3 ─ wait 4 s (3.2–4.8) ─ …' +
        ' ─ attempt 19 ─ wait 0.8–1 h ─ attempt 20 ─ fails ─ quarantine',
    );
  });

  it.each<[options: ConsumeOptions, waits: string[]]>([
    [{ jitter: 'none' }, ['2 s', '8 s', '30 s']],
    [{ jitter: 'full' }, ['1–2 s', '1–8 s', '1–30 s']],
    [{ jitter: 'decorrelated' }, ['2–6 s', '2–18 s', '2–30 s']],
    [{ jitter: '±50%' }, ['2 s (1–3)', '8 s (4–12)', '30 s (15–45)']],
    [{ backoff: 'patient', maxAttempts: 4 }, ['30 s (24–36)', '2 m (1.6–2.4)', '10 m (8–12)']],
    [{ backoff: ['90s', '250ms', '1d'] }, ['1 m 30 s (1 m 12 s–1 m 48 s)', '250 ms (200–300)', '1 d (0.8–1.2)']],
    [{ backoff: ['1s', '1h'], jitter: 'full', maxAttempts: 3 }, ['0.5–1 s', '500 ms–1 h']],
    [{ backoff: ['1.5s'], maxAttempts: 2 }, ['1.5 s (1.2–1.8)']],
    [{ backoff: ['0s', '1s'], maxAttempts: 3 }, ['0 ms', '1 s (0.8–1.2)']],
  ])('tells the waits of %j', (options, expected) => {
    expect(waits(options)).toEqual(expected);
  });

  it('says nothing of repeating where every delay is used, or none is as written', () => {
    expect(lines({})).toHaveLength(3);
    expect(lines({ backoff: ['1s', '9s'], maxAttempts: 9, jitter: 'decorrelated' })).toHaveLength(3);
    expect(lines({ backoff: ['1s'], maxAttempts: 9 })[3]).toBe('the backoff names 1 delay for 8 waits: 1 s repeats');
  });
});

describe('timetable', () => {
  it('adds up the longest waits', () => {
    const { rows, waitingMs, worstCaseMs } = timetable(consumerPolicy(), { handlerP99Ms: 1000 });
    expect(rows.map(({ attempt, waitedMs }) => [attempt, waitedMs])).toEqual([
      [1, 2400],
      [2, 12_000],
      [3, 48_000],
    ]);
    expect(waitingMs).toBe(48_000);
    expect(worstCaseMs).toBe(52_000);
  });

  it('adds up a long policy without walking it', () => {
    const policy = consumerPolicy({ backoff: 'exponential', maxAttempts: 1_000_000_000, jitter: 'none' });
    const { rows, waitingMs } = timetable(policy);
    // 1 + 2 + … + 2048 s, then an hour each.
    expect(waitingMs).toBe(4_095_000 + (999_999_999 - 12) * 3_600_000);
    expect(rows.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 999_999_999]);
    expect(rows.at(-1)!.waitedMs).toBe(waitingMs);
  });
});

describe('renderOrigins', () => {
  it('says where each value comes from', () => {
    expect(renderOrigins(consumerOrigins({ backoff: 'ladder', visibilityTimeout: '60s' }))).toBe(
      'values from: maxAttempts ← preset ladder · backoff ← preset ladder · jitter ← default · visibilityTimeout ← option' +
        ' · heartbeat ← default · timeout ← default',
    );
  });
});
