import { expect } from 'vitest';
import type { Broker } from '../../../src/ports/broker.ts';
import type { Letter } from '../../../src/testing/index.ts';
import { Crew } from './crew.ts';

/** 'whole' as `npm run proof:stories` tells it, else short. */
const LENGTH = process.env.LAZARET_STORY === 'whole' ? { messages: 1_000, kills: 20 } : { messages: 200, kills: 3 };
const CONCURRENCY = 10;
const WORKERS = 2;
const KILL_EVERY_MS = 700;
const LOOK_EVERY_MS = 200;
const OPTIONS = { concurrency: CONCURRENCY, backoff: ['200ms'], visibilityTimeout: '3s', timeout: '30s' };

export interface Ground {
  /** As workers are given it. */
  readonly url: string;
  readonly queue: string;
  /** A client beside them, on the same queue. */
  readonly broker: Broker;
  letters(): Promise<readonly Letter[]>;
  /** Kills the server, and lets it come up again. Resolves when it answers. */
  crash(): Promise<void>;
  /** Of the app of every worker. */
  readonly app?: object;
  /** The file of a worker, where it is not the common one. */
  readonly worker?: string;
  readonly withinMs: number;
}

/**
 * One crasher, 2 % poison and 5 % that fail twice, in a queue whose workers are killed again and again, and whose server is killed once:
 * every id is accounted for, none is quarantined but the guilty, and what is done twice is explained by a kill.
 */
export async function story(ground: Ground): Promise<void> {
  const { url, queue, broker, letters, crash, app, worker, withinMs } = ground;
  const all = ids(LENGTH.messages);
  const guilty = all.filter((id) => /^(crash|poison)/.test(id));
  const crew = new Crew(url, queue, OPTIONS, app, worker);
  try {
    const bodies = all.map((id) => ({ id, body: Buffer.from(id) }));
    expect(await broker.publish(queue, bodies)).toEqual(all.map(() => 'done'));
    crew.start(WORKERS);
    for (let kills = 0; kills < LENGTH.kills; kills++) {
      await sleep(KILL_EVERY_MS);
      if (kills === Math.floor(LENGTH.kills / 2)) await crash();
      crew.killOne();
    }
    const isOver = async () => {
      const dead = new Set((await letters()).map(({ message }) => message.id));
      return dead.size >= guilty.length && crew.ends().size >= all.length - guilty.length;
    };
    for (const endAt = performance.now() + withinMs; performance.now() < endAt && !(await isOver()); )
      await sleep(LOOK_EVERY_MS);
    expect(crew.falls).toEqual([]);
    const dead = await letters();
    const ends = crew.ends();
    // n.b. who dies between a confirmed letter and its acknowledgement leaves two of one id, where these are two steps.
    expect([...new Set(dead.map(({ message }) => message.id))].sort()).toEqual([...guilty].sort());
    expect([...ends.keys()].sort()).toEqual(all.filter((id) => !guilty.includes(id)).sort());
    expect(dead.find(({ message }) => message.id === 'crash-0')?.evidence?.reason).toBe('crash');
    const twice = [...ends].filter(([, times]) => times > 1);
    const deaths = LENGTH.kills + STARTS_OF_A_CRASHER + WORKERS;
    console.info(
      `${queue}: ${all.length} messages, ${LENGTH.kills} kills, done twice: ${twice.map(([id]) => id).join(' ') || 'none'}`,
    );
    expect(twice.length).toBeLessThanOrEqual(deaths * CONCURRENCY);
    expect(crew.lines().filter(({ what, id }) => what === 'start' && id === 'crash-0').length).toBeLessThanOrEqual(
      STARTS_OF_A_CRASHER,
    );
  } finally {
    await crew.end();
  }
}

const STARTS_OF_A_CRASHER = 4;

/** What becomes of a message stands in its id. */
function ids(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => {
    if (n === 0) return 'crash-0';
    if (n % 50 === 1) return `poison-${n}`;
    return n % 20 === 3 ? `twice-${n}` : `good-${n}`;
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
