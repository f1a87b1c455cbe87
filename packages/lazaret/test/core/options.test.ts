import { afterEach, describe, expect, it } from 'vitest';
import { batchOptions } from '../../src/core/batch-options.ts';
import { DEFAULTS, PRESETS } from '../../src/core/defaults.ts';
import { type ConsumeOptions, consumerPolicy } from '../../src/core/options.ts';
import { consumerOrigins } from '../../src/core/origins.ts';
import type { ConsumerPolicy } from '../../src/core/policy.ts';
import { refusal } from './refusal.ts';

/** As users write them, wrong types included. */
const policyOf = (options: object): ConsumerPolicy => consumerPolicy(options as ConsumeOptions);
const codeOf = (options: object): string => refusal(() => policyOf(options)).code;

const HOUR_MS = 3_600_000;
const BY_DEFAULT: ConsumerPolicy = {
  maxAttempts: 4,
  backoff: { kind: 'list', delaysMs: [2000, 8000, 30_000] },
  jitter: { kind: 'proportional', share: 0.2 },
  aloneStrikes: 2,
  crashStrikes: 4,
  leaseMs: 90_000,
  heartbeatMs: 45_000,
  timeoutMs: 900_000,
  concurrency: 10,
  globalConcurrency: undefined,
  ordering: 'none',
  maxBodyBytes: 10_485_760,
  laneCap: 100,
  parkCap: 1000,
  version: undefined,
  journal: true,
  storm: { rate: undefined, off: [], numbers: {} },
};

describe('consumerPolicy', () => {
  it('has a default for everything', () => {
    expect(consumerPolicy()).toEqual(BY_DEFAULT);
    expect(consumerPolicy({})).toEqual(BY_DEFAULT);
  });

  it('takes an undefined option for one that is not given', () => {
    const names = [
      'maxAttempts',
      'backoff',
      'jitter',
      'heartbeat',
      'parking',
      'schema',
      'isolate',
      'version',
      'poison',
    ];
    expect(policyOf(Object.fromEntries(names.map((name) => [name, undefined])))).toEqual(BY_DEFAULT);
  });

  it('has the defaults that it would read', () => {
    expect(policyOf({ ...DEFAULTS, ordering: 'key' })).toEqual({ ...BY_DEFAULT, ordering: 'key' });
  });

  it.each<[options: object, change: Partial<ConsumerPolicy>]>([
    [{ maxAttempts: 7 }, { maxAttempts: 7 }],
    [{ maxAttempts: 1 }, { maxAttempts: 1 }],
    [{ backoff: ['1s'] }, { backoff: { kind: 'list', delaysMs: [1000] } }],
    [{ backoff: ['0s', '5m'] }, { backoff: { kind: 'list', delaysMs: [0, 300_000] } }],
    [{ backoff: { base: '2s' } }, { backoff: { kind: 'exponential', baseMs: 2000, factor: 2, capMs: HOUR_MS } }],
    [
      { backoff: { base: '2s', factor: 1.5, cap: '1m' } },
      { backoff: { kind: 'exponential', baseMs: 2000, factor: 1.5, capMs: 60_000 } },
    ],
    [
      { backoff: { base: '1ms', factor: 1, cap: '1ms' } },
      { backoff: { kind: 'exponential', baseMs: 1, factor: 1, capMs: 1 } },
    ],
    [{ backoff: 'standard' }, {}],
    [{ backoff: 'ladder' }, { backoff: { kind: 'list', delaysMs: [5000, 15_000, 45_000] }, maxAttempts: 6 }],
    [
      { backoff: 'patient' },
      { backoff: { kind: 'list', delaysMs: [30_000, 120_000, 600_000, 1_800_000] }, maxAttempts: 5 },
    ],
    [{ backoff: 'exponential' }, { backoff: { kind: 'exponential', baseMs: 1000, factor: 2, capMs: HOUR_MS } }],
    [
      { backoff: 'ladder', maxAttempts: 3 },
      { backoff: { kind: 'list', delaysMs: [5000, 15_000, 45_000] }, maxAttempts: 3 },
    ],
    [{ jitter: 'none' }, { jitter: { kind: 'none' } }],
    [{ jitter: 'full' }, { jitter: { kind: 'full' } }],
    [{ jitter: 'decorrelated' }, { jitter: { kind: 'decorrelated' } }],
    [{ jitter: '±50%' }, { jitter: { kind: 'proportional', share: 0.5 } }],
    [{ jitter: '5%' }, { jitter: { kind: 'proportional', share: 0.05 } }],
    [{ jitter: '0%' }, { jitter: { kind: 'none' } }],
    [{ visibilityTimeout: '30s' }, { leaseMs: 30_000, heartbeatMs: 15_000 }],
    [{ visibilityTimeout: '11ms' }, { leaseMs: 11, heartbeatMs: 5 }],
    [
      { visibilityTimeout: '10ms', heartbeat: '1ms' },
      { leaseMs: 10, heartbeatMs: 1 },
    ],
    [{ heartbeat: '20s' }, { heartbeatMs: 20_000 }],
    [
      { heartbeat: false, timeout: '90s' },
      { heartbeatMs: undefined, timeoutMs: 90_000 },
    ],
    [{ timeout: '5s' }, { timeoutMs: 5000 }],
    [{ timeout: '1ms' }, { timeoutMs: 1 }],
    [{ timeout: '5s', visibilityTimeout: '90s' }, { timeoutMs: 5000 }],
    [
      { timeout: '1h', visibilityTimeout: '30m' },
      { timeoutMs: HOUR_MS, leaseMs: 1_800_000, heartbeatMs: 900_000 },
    ],
    [{ concurrency: 1 }, { concurrency: 1 }],
    [{ globalConcurrency: 3 }, { globalConcurrency: 3 }],
    [{ ordering: 'key' }, { ordering: 'key' }],
    [{ maxBody: '256kb' }, { maxBodyBytes: 262_144 }],
    [
      { ordering: 'key', parking: { lane: 5 } },
      { ordering: 'key', laneCap: 5 },
    ],
    [
      { ordering: 'key', parking: { quarantine: 0 } },
      { ordering: 'key', parkCap: 0 },
    ],
    [
      { ordering: 'key', parking: { lane: 1 } },
      { ordering: 'key', laneCap: 1 },
    ],
    [{ version: '1.42.1' }, { version: '1.42.1' }],
    [{ version: 'v'.repeat(100) }, { version: 'v'.repeat(100) }],
    [{ journal: false }, { journal: false }],
    [{ isolate: 'process' }, {}],
    [{ isolate: { memory: '512mb' } }, {}],
    [{ isolate: {} }, {}],
    [{ classify: () => undefined, poison: [TypeError], transient: [] }, {}],
    [{ schema: { '~standard': { version: 1 } } }, {}],
    [{ schema: Object.assign(() => undefined, { '~standard': { version: 1 } }) }, {}],
  ])('reads %j', (options, change) => {
    expect(policyOf(options)).toEqual({ ...BY_DEFAULT, ...change });
  });

  it.each<[options: object, code: string]>([
    [{ maxAttempt: 4 }, 'LZ1001'],
    [JSON.parse('{ "__proto__": { "timeout": "1s" } }'), 'LZ1001'],
    [{ constructor: 1 }, 'LZ1001'],
    [{ backoff: { base: '1s', max: '1h' } }, 'LZ1001'],
    [{ backoff: JSON.parse('{ "base": "1s", "__proto__": {} }') }, 'LZ1001'],
    [{ ordering: 'key', parking: { lanes: 4 } }, 'LZ1001'],
    [{ isolate: { memroy: '1mb' } }, 'LZ1001'],
    [[], 'LZ1002'],
    [{ maxAttempts: '4' }, 'LZ1002'],
    [{ maxAttempts: null }, 'LZ1002'],
    [{ backoff: 5 }, 'LZ1002'],
    [{ backoff: null }, 'LZ1002'],
    [{ backoff: {} }, 'LZ1002'],
    [{ backoff: { base: '1s', factor: '2' } }, 'LZ1002'],
    [{ backoff: ['1s', null] }, 'LZ1002'],
    [{ jitter: true }, 'LZ1002'],
    [{ jitter: 'fully' }, 'LZ1002'],
    [{ jitter: 0.2 }, 'LZ1002'],
    [{ heartbeat: true }, 'LZ1002'],
    [{ concurrency: '10' }, 'LZ1002'],
    [{ globalConcurrency: '10' }, 'LZ1002'],
    [{ ordering: 'keys' }, 'LZ1002'],
    [{ ordering: true }, 'LZ1002'],
    [{ maxBody: 262_144 }, 'LZ1002'],
    [{ ordering: 'key', parking: 100 }, 'LZ1002'],
    [{ version: 1 }, 'LZ1002'],
    [{ classify: {} }, 'LZ1002'],
    [{ poison: TypeError }, 'LZ1002'],
    [{ transient: 'all' }, 'LZ1002'],
    [{ journal: 'sqlite:./journal.db' }, 'LZ1002'],
    [{ schema: {} }, 'LZ1002'],
    [{ schema: 'zod' }, 'LZ1002'],
    [{ isolate: 'thread' }, 'LZ1002'],
    [{ isolate: true }, 'LZ1002'],
    [{ isolate: { memory: 512 } }, 'LZ1002'],
    [{ maxAttempts: 0 }, 'LZ1003'],
    [{ maxAttempts: 2.5 }, 'LZ1003'],
    [{ maxAttempts: Number.NaN }, 'LZ1003'],
    [{ maxAttempts: Number.POSITIVE_INFINITY }, 'LZ1003'],
    [{ backoff: [] }, 'LZ1003'],
    [{ backoff: ['1s', '-1s'] }, 'LZ1003'],
    [{ backoff: { base: '0s' } }, 'LZ1003'],
    [{ backoff: { base: '1s', factor: 0.5 } }, 'LZ1003'],
    [{ backoff: { base: '1s', factor: Number.NaN } }, 'LZ1003'],
    [{ backoff: { base: '1s', factor: Number.POSITIVE_INFINITY } }, 'LZ1003'],
    [{ backoff: { base: '1s', cap: Number.POSITIVE_INFINITY } }, 'LZ1003'],
    [{ jitter: '100%' }, 'LZ1003'],
    [{ visibilityTimeout: '9ms' }, 'LZ1003'],
    [{ heartbeat: '0s' }, 'LZ1003'],
    [{ timeout: '0s' }, 'LZ1003'],
    [{ timeout: Number.POSITIVE_INFINITY }, 'LZ1003'],
    [{ timeout: Number.NaN }, 'LZ1003'],
    [{ concurrency: 0 }, 'LZ1003'],
    [{ globalConcurrency: 0 }, 'LZ1003'],
    [{ concurrency: -1 }, 'LZ1003'],
    [{ concurrency: Number.NaN }, 'LZ1003'],
    [{ maxBody: '0b' }, 'LZ1003'],
    [{ ordering: 'key', parking: { lane: 0 } }, 'LZ1003'],
    [{ ordering: 'key', parking: { quarantine: -1 } }, 'LZ1003'],
    [{ version: '' }, 'LZ1003'],
    [{ version: 'x'.repeat(101) }, 'LZ1003'],
    [{ timeout: 90 }, 'LZ1042'],
    [{ backoff: ['1s', 8] }, 'LZ1042'],
    [{ visibilityTimeout: 'long' }, 'LZ1043'],
    [{ backoff: 'ladders' }, 'LZ1050'],
    [{ backoff: '2s' }, 'LZ1050'],
    [{ backoff: '__proto__' }, 'LZ1050'],
    [{ backoff: 'constructor' }, 'LZ1050'],
  ])('refuses %j with %s', (options, code) => {
    expect(codeOf(options)).toBe(code);
  });

  it.each<[options: object, message: RegExp]>([
    [{ maxAttempts: 1, backoff: ['2s'] }, /^backoff: has no effect with maxAttempts: 1/],
    [{ maxAttempts: 1, backoff: 'standard' }, /^backoff: has no effect with maxAttempts: 1/],
    [{ maxAttempts: 1, jitter: 'full' }, /^jitter: has no effect with maxAttempts: 1/],
    [
      { backoff: ['1s', '2s', '3s', '4s'] },
      /^backoff: 4 delays, but maxAttempts: 4 leaves 3 .* write maxAttempts: 5\.$/,
    ],
    [{ maxAttempts: 3, backoff: ['1s', '2s', '3s'] }, /^backoff: 3 delays, but maxAttempts: 3 leaves 2/],
    [{ backoff: { base: '2h' } }, /^backoff\.cap: 1h is shorter than the base, 2h\./],
    [{ heartbeat: false }, /^heartbeat: false, while timeout 15m \(default\) is longer than visibilityTimeout 1m30s/],
    [{ heartbeat: false, timeout: '91s' }, /^heartbeat: false, while timeout 1m31s is longer/],
    [{ heartbeat: '90s' }, /^heartbeat: 1m30s is not shorter than visibilityTimeout 1m30s/],
    [{ heartbeat: '45s', visibilityTimeout: '30s' }, /^heartbeat: 45s is not shorter than visibilityTimeout 30s/],
    [{ visibilityTimeout: '30m' }, /^visibilityTimeout: 30m is longer than timeout 15m \(default\)/],
    [{ parking: { lane: 10 } }, /^parking: has no effect without ordering: 'key'/],
    [{ parking: {}, ordering: 'none' }, /^parking: has no effect without ordering: 'key'/],
    [{ jitter: 'decorrelated', backoff: ['5s', '5s'] }, /^jitter: 'decorrelated' has no room: .* 5s\./],
    [
      { jitter: 'decorrelated', backoff: { base: '1s', factor: 3 } },
      /^backoff\.factor: has no effect with jitter: 'decorrelated'/,
    ],
  ])('refuses the contradiction in %j', (options, message) => {
    expect(refusal(() => policyOf(options))).toEqual({ code: 'LZ1004', message: expect.stringMatching(message) });
  });

  it.each<[options: object]>([
    [{ maxAttempts: 1 }],
    [{ maxAttempts: 2 }],
    [{ maxAttempts: 2, backoff: 'patient' }],
    [{ maxAttempts: 9, backoff: ['1s'] }],
    [{ maxAttempts: 3, backoff: ['1s', '2s'] }],
    [{ jitter: 'decorrelated', backoff: { base: '1s' } }],
    [{ jitter: 'decorrelated', backoff: 'exponential' }],
    [{ heartbeat: false, visibilityTimeout: '15m' }],
    [{ visibilityTimeout: '15m' }],
  ])('sees no contradiction in %j', (options) => {
    expect(() => policyOf(options)).not.toThrow();
  });

  describe('on a polluted prototype', () => {
    afterEach(() => {
      delete (Object.prototype as { maxAttempts?: number }).maxAttempts;
    });

    it('reads what was given, and nothing else', () => {
      (Object.prototype as { maxAttempts?: number }).maxAttempts = 99;
      expect(consumerPolicy({}).maxAttempts).toBe(4);
    });
  });

  it('names the preset that was probably meant, or all of them', () => {
    expect(refusal(() => policyOf({ backoff: 'lader' })).message).toBe(
      "backoff: no such preset: 'lader'. Did you mean 'ladder'?",
    );
    expect(refusal(() => policyOf({ backoff: '2s' })).message).toBe(
      "backoff: no such preset: '2s'. Write one of standard, ladder, exponential, patient, or a list: ['2s', '8s'].",
    );
  });

  it('takes every preset as it is', () => {
    for (const backoff of Object.keys(PRESETS)) expect(() => policyOf({ backoff })).not.toThrow();
  });
});

describe('batchOptions', () => {
  const POLICY = { timeoutMs: 5_000 };

  it('reads size and time', () => {
    expect(batchOptions({ size: 50, within: '200ms' }, POLICY)).toEqual({ size: 50, withinMs: 200 });
    expect(batchOptions({ size: 1, within: '1ms' }, POLICY)).toEqual({ size: 1, withinMs: 1 });
  });

  it.each<[options: object, code: string]>([
    [{ size: 50 }, 'LZ1002'],
    [{ within: '1s' }, 'LZ1002'],
    [{ size: 0, within: '1s' }, 'LZ1003'],
    [{ size: 5, within: '0s' }, 'LZ1003'],
    [{ size: 5, within: 200 }, 'LZ1042'],
    [{ size: 5, within: '1s', wihtin: '2s' }, 'LZ1001'],
    [{ size: 5, within: '5s' }, 'LZ1004'],
    [{ size: 5, within: '20m' }, 'LZ1004'],
  ])('refuses %j with %s', (options, code) => {
    expect(refusal(() => batchOptions(options as { size: number; within: string }, POLICY)).code).toBe(code);
  });
});

describe('consumerOrigins', () => {
  const origins = (options: object) =>
    Object.fromEntries(consumerOrigins(options as ConsumeOptions).map(({ option, from }) => [option, from]));

  it('names the default where nothing is given', () => {
    expect(origins({})).toEqual({
      maxAttempts: 'default',
      backoff: 'default',
      jitter: 'default',
      visibilityTimeout: 'default',
      heartbeat: 'default',
      timeout: 'default',
    });
  });

  it.each<[options: object, change: object]>([
    [
      { timeout: '5m', jitter: 'full' },
      { timeout: 'option', jitter: 'option' },
    ],
    [{ backoff: ['1s'] }, { backoff: 'option' }],
    [{ backoff: 'ladder' }, { backoff: 'preset ladder', maxAttempts: 'preset ladder' }],
    [
      { backoff: 'ladder', maxAttempts: 3 },
      { backoff: 'preset ladder', maxAttempts: 'option' },
    ],
    [{ backoff: 'exponential' }, { backoff: 'preset exponential', maxAttempts: 'default' }],
  ])('of %j', (options, change) => {
    expect(origins(options)).toMatchObject(change);
  });
});
