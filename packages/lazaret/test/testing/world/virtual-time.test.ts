import { describe, expect, it } from 'vitest';
import { Chance } from '../../../src/testing/world/chance.ts';
import { Trace } from '../../../src/testing/world/trace.ts';
import { VirtualSystem } from '../../../src/testing/world/virtual-system.ts';
import { VirtualTime } from '../../../src/testing/world/virtual-time.ts';
import { Wire } from '../../../src/testing/world/wire.ts';

function stage(seed = 1) {
  const time = new VirtualTime(new Chance(seed), new Trace());
  const seen: string[] = [];
  const note = (what: string) => () => void seen.push(`${what} at ${Math.round(time.now)}`);
  const system = (latenessMs = 0) =>
    new VirtualSystem({ time, chance: new Chance(seed), name: 'p', skewMs: 0, latenessMs });
  return { time, seen, note, system, run: () => time.run(() => false) };
}

describe('virtual time', () => {
  it('lets things happen in the order of their times, whatever the order in which they were planned', async () => {
    const { time, seen, note, run } = stage();
    time.at(30, note('c'));
    time.at(10, note('a'));
    time.at(20, note('b'));
    await run();
    expect(seen).toEqual(['a at 10', 'b at 20', 'c at 30']);
  });

  it('lets everything that one thing makes ready run before the next', async () => {
    const { time, seen, note, run } = stage();
    time.at(10, async () => {
      for (let n = 0; n < 50; n++) await undefined;
      seen.push('ready');
    });
    time.at(10.001, note('next'));
    await run();
    expect(seen).toEqual(['ready', 'next at 10']);
  });

  it('leaves the order of one instant to chance', async () => {
    const orders = new Set<string>();
    for (let seed = 1; seed <= 30; seed++) {
      const { time, seen, note, run } = stage(seed);
      for (const name of ['a', 'b', 'c']) time.at(5, note(name));
      await run();
      orders.add(seen.join());
    }
    expect(orders.size).toBeGreaterThan(3);
  });

  it('passes on what is thrown', async () => {
    const { time, run } = stage();
    time.at(1, () => {
      throw new Error('broken');
    });
    await expect(run()).rejects.toThrow('broken');
  });
});

describe('a simulated process', () => {
  it('misses timers, arrivals and turns while it stands still, and its clocks go on', async () => {
    const { time, seen, note, system, run } = stage();
    const own = system();
    own.after(10, note('timer'));
    time.at(5, () => own.pause());
    time.at(12, () => own.arrive(note('first')));
    time.at(13, () => own.arrive(note('second')));
    const before = own.monotonic();
    time.at(100, () => own.resume());
    await run();
    expect(seen.toSorted()).toEqual(['first at 100', 'second at 100', 'timer at 100']);
    expect(seen.indexOf('first at 100')).toBeLessThan(seen.indexOf('second at 100'));
    expect(own.monotonic() - before).toBe(100);
  });

  it('hears what comes after it went on behind what it has missed', async () => {
    const { time, seen, note, system, run } = stage();
    const own = system();
    own.pause();
    own.arrive(() => {
      seen.push('missed');
      own.arrive(note('later'));
    });
    own.arrive(note('missed too'));
    time.at(50, () => own.resume());
    await run();
    expect(seen).toEqual(['missed', 'missed too at 50', 'later at 50']);
  });

  it('does nothing any more when it has ended', async () => {
    const { time, seen, note, system, run } = stage();
    const own = system();
    own.after(10, note('timer'));
    own.turn(note('turn'));
    own.end();
    own.after(10, note('another'));
    time.at(20, () => own.arrive(note('arrival')));
    await run();
    expect(seen).toEqual([]);
    expect(own.pending).toBe(0);
  });

  it('counts its timers, those that fired and those that were cancelled no more', async () => {
    const { note, system, run, seen } = stage();
    const own = system();
    own.after(10, note('fired'));
    const cancel = own.after(10, note('cancelled'));
    own.after(10, note('fired too'));
    expect(own.pending).toBe(3);
    cancel();
    cancel();
    expect(own.pending).toBe(2);
    await run();
    expect(seen).toHaveLength(2);
    expect(own.pending).toBe(0);
  });

  it('fires timers late, never early', async () => {
    const { system, run, time } = stage();
    const own = system(50);
    const at: number[] = [];
    for (let n = 0; n < 40; n++) own.after(100, () => void at.push(time.now));
    await run();
    expect(Math.min(...at)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...at)).toBeGreaterThan(110);
    expect(Math.max(...at)).toBeLessThanOrEqual(151);
  });
});

describe('a wire', () => {
  const wireOf = (most: number, seed = 1) => {
    const ground = stage(seed);
    const own = ground.system();
    return {
      ...ground,
      own,
      wire: new Wire({ time: ground.time, chance: new Chance(seed), system: own, latencyMs: [0, most] }),
    };
  };

  it('takes its time, and keeps the order of each direction', async () => {
    const { wire, seen, note, run, time } = wireOf(100);
    for (const name of ['a', 'b', 'c', 'd']) wire.request(note(name));
    await run();
    expect(seen.map((what) => what[0])).toEqual(['a', 'b', 'c', 'd']);
    expect(time.now).toBeGreaterThan(1);
  });

  it('answers at once without latency', () => {
    const { wire, seen, note } = wireOf(0);
    wire.request(note('asked'));
    wire.answer(note('answered'));
    expect(seen).toEqual(['asked at 0', 'answered at 0']);
  });

  it('lets nothing through while it is stalled, then everything in order', async () => {
    const { wire, seen, note, run } = wireOf(0);
    wire.stall(500);
    wire.request(note('first'));
    wire.request(note('second'));
    expect(seen).toEqual([]);
    await run();
    expect(seen).toEqual(['first at 500', 'second at 500']);
  });

  it('loses what is on its way when the process dies, and never answers it', async () => {
    const { wire, own, seen, note, run } = wireOf(100);
    wire.request(note('request'));
    let answered = false;
    void wire.ask(async () => 1).then(() => (answered = true));
    own.end();
    await run();
    expect(seen).toEqual([]);
    expect(answered).toBe(false);
  });

  it('says how long the server has been silent', async () => {
    const { wire, time, run } = wireOf(0);
    void wire.ask(() => new Promise(() => undefined));
    time.at(70, () => undefined);
    await run();
    expect(wire.silentMs).toBe(70);
  });
});
