import { describe, expect, it } from 'vitest';
import { SimulatedClock } from '../../../src/testing/simulation/clock.ts';
import { Chance } from '../../../src/testing/world/chance.ts';

const clock = () => new SimulatedClock(new Chance(1));

describe('a simulated clock', () => {
  it('fires timers by time, then in the order in which they were armed', async () => {
    const time = clock();
    const fired: string[] = [];
    const note = (name: string) => () => void fired.push(`${name} ${time.elapsed}`);
    time.after(20, note('late'));
    time.after(10, note('first'));
    time.after(9.2, note('second'));
    time.after(31, note('beyond'));
    await time.run(30);
    expect(fired).toEqual(['first 10', 'second 10', 'late 20']);
    expect(time.elapsed).toBe(30);
    await time.run(31);
    expect(fired.at(-1)).toBe('beyond 31');
  });

  it('lets everything come to rest before time goes on, turns after promises', async () => {
    const time = clock();
    const happened: string[] = [];
    time.after(5, () => {
      time.turn(() => happened.push('turn'));
      void Promise.resolve()
        .then(() => undefined)
        .then(() => happened.push('promise'));
      time.after(0, () => happened.push(`armed ${time.elapsed}`));
    });
    time.after(6, () => happened.push('next'));
    await time.run(10);
    expect(happened).toEqual(['promise', 'turn', 'armed 5', 'next']);
  });

  it('fires nothing that was cancelled, before or within its millisecond', async () => {
    const time = clock();
    let fired = 0;
    time.after(5, () => fired++)();
    const cancels: (() => void)[] = [];
    time.after(7, () => cancels[0]!());
    cancels.push(time.after(7, () => fired++));
    await time.run(10);
    expect(fired).toBe(0);
  });

  it('rejects with what a timer throws', async () => {
    const time = clock();
    time.after(1, () => {
      throw new RangeError('broken');
    });
    await expect(time.run(2)).rejects.toThrow('broken');
  });

  it('tells both clocks the same pace, and no id twice', async () => {
    const time = clock();
    const [wall, monotonic] = [time.now(), time.monotonic()];
    await time.run(1_234);
    expect([time.now() - wall, time.monotonic() - monotonic]).toEqual([1_234, 1_234]);
    expect(time.id()).not.toBe(time.id());
    expect(time.random()).not.toBe(time.random());
  });
});
