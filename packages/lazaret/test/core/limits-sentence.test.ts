import { describe, expect, it } from 'vitest';
import { limitsSentence } from '../../src/core/limits-sentence.ts';
import { consumerPolicy } from '../../src/core/options.ts';

describe('the limits of a consumer', () => {
  it.each([
    [{}, 'together', undefined],
    [{ concurrency: 4 }, 'each', undefined],
    [
      { rateLimit: '100/s' },
      'together',
      'limits: 10 at once in each process · 100 starts per 1s in all of them together',
    ],
    [
      { rateLimit: '5/m', concurrency: 2 },
      'each',
      'limits: 2 at once in each process · 5 starts per 1m in each of them (this broker shares nothing between them)',
    ],
    [
      { rateLimit: '5/m' },
      'unknown',
      'limits: 10 at once in each process · 5 starts per 1m in all of them together where the broker is a store itself, else in each',
    ],
    [{ globalConcurrency: 40 }, 'together', 'limits: 10 at once in each process · 40 at once in all of them together'],
  ] as const)('of %j, %s, are told with whom they hold for', (options, reach, sentence) => {
    expect(limitsSentence(consumerPolicy(options), reach)).toBe(sentence);
  });
});
