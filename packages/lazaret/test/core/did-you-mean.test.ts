import { describe, expect, it } from 'vitest';
import { didYouMean } from '../../src/core/did-you-mean.ts';

const OPTIONS = ['maxAttempts', 'backoff', 'jitter', 'visibilityTimeout', 'heartbeat', 'timeout', 'concurrency'];

describe('didYouMean', () => {
  it.each([
    ['maxAttempt', 'maxAttempts'],
    ['MAXATTEMPTS', 'maxAttempts'],
    ['maxRetries', undefined],
    ['bakcoff', 'backoff'],
    ['back-off', 'backoff'],
    ['visibility', 'visibilityTimeout'],
    ['attempts', 'maxAttempts'],
    ['timeoutMs', 'timeout'],
    ['tineout', 'timeout'],
    ['jiter', 'jitter'],
    ['x', undefined],
    ['', undefined],
    ['__proto__', undefined],
    ['constructor', undefined],
  ])('for %j is %j', (word, meant) => {
    expect(didYouMean(word, OPTIONS)).toBe(meant);
  });

  it.each([
    ['replaced', 'kxy', 'key'],
    ['missing', 'ky', 'key'],
    ['too many', 'keey', 'key'],
    ['swapped at the front', 'eky', 'key'],
    ['swapped at the end', 'kye', 'key'],
    ['two of three', 'kxx', undefined],
    ['three of three', 'xxx', undefined],
    ['two of eight', 'concxxrr', 'concurrr'],
    ['three of eight', 'concxxxr', undefined],
    ['swapped with a stranger', 'ykx', undefined],
  ])('finds letters %s', (_, word, meant) => {
    expect(didYouMean(word, ['key', 'concurrr'])).toBe(meant);
  });

  it('finds a part of four letters, not of three', () => {
    expect(didYouMean('visi', OPTIONS)).toBe('visibilityTimeout');
    expect(didYouMean('vis', OPTIONS)).toBeUndefined();
  });

  it('takes the first of two that are as near', () => {
    expect(didYouMean('kex', ['key', 'ken'])).toBe('key');
  });

  it('counts a swap of neighbours as one mistake', () => {
    expect(didYouMean('kye', ['key', 'all'])).toBe('key');
  });

  it('prefers the nearer of two', () => {
    expect(didYouMean('ladde', ['adder', 'ladder'])).toBe('ladder');
  });

  it('does not look at endless words', () => {
    expect(didYouMean('timeout'.repeat(1000), OPTIONS)).toBeUndefined();
    expect(didYouMean('x'.repeat(41), ['x'.repeat(41)])).toBeUndefined();
    expect(didYouMean('x'.repeat(40), ['x'.repeat(41)])).toBe('x'.repeat(41));
  });

  it('has nothing to say without candidates', () => {
    expect(didYouMean('timeout', [])).toBeUndefined();
  });
});
