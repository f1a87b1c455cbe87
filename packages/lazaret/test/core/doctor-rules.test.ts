import { describe, expect, it } from 'vitest';
import { examine, RULE_IDS, type RuleId, type Surroundings } from '../../src/core/doctor-rules.ts';
import { type ConsumeOptions, consumerPolicy } from '../../src/core/options.ts';

const AROUND: Surroundings = { instances: 4, degradedPerSecond: 60, clientTimeoutMs: 2000, clientAttempts: 1 };
const rulesOf = (options: ConsumeOptions, around: Surroundings = AROUND): RuleId[] =>
  examine(consumerPolicy(options), around).map(({ rule }) => rule);

describe('the doctor', () => {
  it('finds nothing wrong with the defaults', () => {
    expect(rulesOf({})).toEqual([]);
    expect(rulesOf({ concurrency: 100 })).toEqual([]);
  });

  it.each<[rule: RuleId, options: ConsumeOptions, around: Surroundings, cure: ConsumeOptions, cured: Surroundings]>([
    // 0.8 × 2 s × 60/s = 96 handlers.
    [
      'can-collapse',
      { concurrency: 25, storm: { without: ['breaker'] } },
      AROUND,
      { concurrency: 24, storm: { without: ['breaker'] } },
      AROUND,
    ],
    ['layered-retries', {}, { ...AROUND, clientAttempts: 3 }, {}, { ...AROUND, clientAttempts: 1 }],
    ['outage-fills-quarantine', { storm: { without: ['guilt'] } }, AROUND, { storm: { without: ['fuse'] } }, AROUND],
    [
      'retries-for-ever',
      { maxAttempts: 1000, backoff: ['5s'], breaker: false, concurrency: 1 },
      AROUND,
      { maxAttempts: 1000, backoff: ['5s'] },
      AROUND,
    ],
    ['deadline-below-client', { timeout: '2s' }, AROUND, { timeout: '3s' }, AROUND],
  ])('says %s where it is so, and not where it has been mended', (rule, options, around, cure, cured) => {
    expect(rulesOf(options, around)).toEqual([rule]);
    expect(rulesOf(cure, cured)).toEqual([]);
  });

  it('guesses nothing that it was not told', () => {
    expect(rulesOf({ concurrency: 1000, storm: { without: ['breaker'] }, timeout: '1s' }, {})).toEqual([]);
  });

  it('says of each what it saw, why it matters and what to do', () => {
    const [found] = examine(consumerPolicy({ storm: { without: ['guilt'] } }));
    expect(found!.finding).toContain('48s');
    for (const rule of RULE_IDS) expect(rule).toMatch(/^[a-z-]+$/);
  });

  it('counts the calls that layers of retries make: 3 × 4', () => {
    const [found] = examine(consumerPolicy(), { clientAttempts: 3 });
    expect(found!.finding).toContain('12 calls');
  });
});
