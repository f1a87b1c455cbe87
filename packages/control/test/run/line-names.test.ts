import { describe, expect, it } from 'vitest';
import { lineNames } from '../../src/run/line-names.ts';
import { LineSet } from '../../src/run/line-set.ts';

const line = (number: number, text: string) => ({ number, bytes: Buffer.from(text) });

describe('lineNames', () => {
  const names = lineNames('orders.ndjson');

  it('calls a line after its file and number, and knows it again', () => {
    expect(names.idOf(line(17, 'x'))).toBe('orders.ndjson:17');
    expect(names.numberOf('orders.ndjson:17')).toBe(17);
  });

  it.each([
    undefined,
    '',
    'evt-1',
    'images.ndjson:17',
    'orders.ndjson:',
    'orders.ndjson:0',
    'orders.ndjson:1x',
    'orders.ndjson:1e3',
  ])('knows that %s is none of its lines', (id) => {
    expect(names.numberOf(id)).toBeUndefined();
  });

  it('remembers a line by file, number and content', () => {
    const id = names.dedupeIdOf(line(17, 'x'));
    expect(names.dedupeIdOf(line(17, 'x'))).toBe(id);
    expect(names.dedupeIdOf(line(18, 'x'))).not.toBe(id);
    expect(names.dedupeIdOf(line(17, 'y'))).not.toBe(id);
    expect(lineNames('images.ndjson').dedupeIdOf(line(17, 'x'))).not.toBe(id);
  });
});

describe('LineSet', () => {
  it('takes each line once', () => {
    const lines = new LineSet();
    const numbers = [1, 7, 8, 9, 100_000, 50_000_000];
    expect(numbers.map((number) => lines.add(number))).toEqual(numbers.map(() => true));
    expect(numbers.map((number) => lines.add(number))).toEqual(numbers.map(() => false));
    expect(lines.add(2)).toBe(true);
  });
});
