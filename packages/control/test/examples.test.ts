import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { lazaret, REPOSITORY, workshop } from './command.ts';

const place = workshop();
afterAll(() => place.remove());

/** An address to run the example on, where there is one in the environment. */
const ADDRESSES: readonly (readonly [where: string, argv: readonly string[]])[] = [
  ['in memory', []],
  ['on SQLite', [`sqlite:${join(place.folder, 'orders.db')}`]],
  ...[
    ['on PostgreSQL', process.env.LAZARET_POSTGRES_URL],
    ['on Redis', process.env.LAZARET_REDIS_URL],
    ['on NATS', process.env.LAZARET_NATS_URL && `${process.env.LAZARET_NATS_URL}?provision=all`],
  ].flatMap(([where, url]) => (url ? [[where!, [url]] as const] : [])),
];

const example = (name: string) => join(REPOSITORY, 'examples', name);

describe('examples/orders.mjs', () => {
  it('has a line for everything that can happen to one', async () => {
    const argv = [
      'run',
      example('orders.mjs'),
      '--input',
      example('orders.ndjson'),
      '--backoff',
      '20ms,50ms',
      '--json',
    ];
    const { stdout, exitCode } = await lazaret(argv, place);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      lines: 8,
      empty: 1,
      done: 5,
      retried: 1,
      quarantined: 3,
      causes: [
        { reason: 'poison', count: 2, why: "Poison: nobody sells 'unobtainium'", example: 'orders.ndjson:3' },
        { reason: 'undecodable', count: 1, why: "DecodeError: line 7, column 32: expected ',' or '}', found '\"'" },
      ],
      accounted: true,
    });
  });
});

describe('examples/consumer.mjs', () => {
  it.each(ADDRESSES)('does what it says %s, and ends by itself', async (_, argv) => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [example('consumer.mjs'), ...argv]);
    expect(
      stdout
        .split('\n')
        .sort()
        .filter((line) => line !== ''),
    ).toEqual([
      'charged ada for o-1 (evt-1)',
      'charged bob for o-2 (evt-2)',
      expect.stringMatching(/^evt-2 again in (1[6-9]|2[0-4])\d ms: Error: payments: connection refused$/),
      'evt-3 quarantined (poison): Poison: customer is empty',
      expect.stringMatching(/^evt-4 quarantined \(undecodable\): DecodeError: /),
    ]);
    expect(stderr).toBe('');
  });
});

describe('the README', () => {
  it('names examples that are there', () => {
    const names = [...readFileSync(join(REPOSITORY, 'README.md'), 'utf8').matchAll(/examples\/([\w.-]+)/g)].map(
      ([, name]) => name!,
    );
    for (const name of names) expect(readFileSync(example(name), 'utf8')).not.toBe('');
  });
});
