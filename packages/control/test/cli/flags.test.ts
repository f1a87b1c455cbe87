import { describe, expect, it } from 'vitest';
import { flagsOf } from '../../src/cli/flags.ts';
import { OPERATIONS } from '../../src/operations/index.ts';
import type { JsonSchema } from '../../src/operations/operation.ts';

const input: JsonSchema = {
  type: 'object',
  properties: {
    queue: { type: 'string', description: 'its name' },
    maxAttempts: { type: 'integer', default: 4 },
    dryRun: { type: 'boolean' },
    order: { type: 'string', enum: ['none', 'key'] },
    ids: { type: 'array', items: { type: 'string' } },
  },
  required: ['queue', 'ids'],
};

describe('flagsOf', () => {
  it('makes a flag of every property, named as command lines name things', () => {
    expect(flagsOf(input, undefined).flags.map(({ syntax }) => syntax)).toEqual([
      '--queue <queue>',
      '--max-attempts <n>',
      '--dry-run',
      '--order <none|key>',
      '--ids <ids>',
    ]);
  });

  it('makes the argument of the subject, and no flag', () => {
    const { argument, flags } = flagsOf(input, 'queue');
    expect(argument).toMatchObject({ property: 'queue', syntax: '<queue>', description: 'its name' });
    expect(flags.map(({ property }) => property)).not.toContain('queue');
  });

  it('takes many of a list, and none of it is the operation’s own affair', () => {
    expect(flagsOf(input, 'ids').argument).toMatchObject({ syntax: '[id...]' });
  });
});

describe('the command line', () => {
  /** A change of it is a change for everybody's scripts, so it is made here too. */
  it('is this', () => {
    const lines = OPERATIONS.map(({ name, subject, input }) => {
      const { argument, flags } = flagsOf(input, subject);
      return [name, argument?.syntax, ...flags.map(({ syntax }) => syntax)].filter(Boolean).join(' ');
    });
    expect(lines).toEqual([
      'queues ls',
      'queues show <queue>',
      'queues explain <queue> --max-attempts <n> --backoff <backoff> --jitter <jitter> --visibility-timeout <timeout> --timeout <timeout> --ordering <none|key>',
      'queues pause <queue> --for <for> --why <why>',
      'queues resume <queue> --why <why>',
      'breaker show [queue]',
      'breaker open <queue> --dependency <dependency> --for <for> --why <why>',
      'breaker half-open <queue> --dependency <dependency> --for <for> --why <why>',
      'breaker close <queue> --dependency <dependency> --for <for> --why <why>',
      'breaker automatic <queue> --dependency <dependency> --why <why>',
      'messages ls --queue <queue> --reason <reason> --limit <n> --after <after>',
      'messages show <message>',
      'messages release [message...]',
    ]);
  });
});
