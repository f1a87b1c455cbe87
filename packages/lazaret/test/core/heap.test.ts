import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Heap } from '../../src/core/heap.ts';

const ascending = (a: number, b: number) => a < b;

function drained(heap: Heap<number>): number[] {
  const items: number[] = [];
  for (let item = heap.pop(); item !== undefined; item = heap.pop()) items.push(item);
  return items;
}

it('gives its items in order, whatever the order in which they came', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (items) => {
      const heap = new Heap(ascending);
      for (const item of items) heap.push(item);
      expect(heap.peek()).toBe(items.length === 0 ? undefined : Math.min(...items));
      expect(drained(heap)).toEqual([...items].sort((a, b) => a - b));
    }),
  );
});

it('keeps that order while items come and go', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer())), (steps) => {
      const heap = new Heap(ascending);
      const model: number[] = [];
      for (const step of steps) {
        if (step === null) expect(heap.pop()).toBe(model.shift());
        else {
          heap.push(step);
          model.push(step);
          model.sort((a, b) => a - b);
        }
        expect(heap.size).toBe(model.length);
      }
    }),
  );
});

it('retains what is wanted, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (items) => {
      const heap = new Heap(ascending);
      for (const item of items) heap.push(item);
      heap.retain((item) => item % 2 === 0);
      expect(drained(heap)).toEqual(items.filter((item) => item % 2 === 0).sort((a, b) => a - b));
    }),
  );
});
