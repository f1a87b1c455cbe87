import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryServer } from '../../src/drivers/memory/index.ts';
import type { LogFields, Logger } from '../../src/index.ts';
import { lazaret, Poison } from '../../src/index.ts';
import { announcer } from '../../src/runtime/events.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';

interface Line extends LogFields {
  readonly level: string;
  readonly event: string;
}

function written() {
  const lines: Line[] = [];
  const write =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      void lines.push({ level, ...fields, event });
  const logger: Logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  return { lines, logger };
}

const stopped = { queue: 'orders' };
const trouble = (message: string, queue = 'orders') => ({ queue, verb: 'settle', error: new Error(message) }) as const;

describe('what escapes from a listener or a logger', () => {
  const rejections: unknown[] = [];
  const see = (reason: unknown) => void rejections.push(reason);
  beforeEach(() => {
    rejections.length = 0;
    process.on('unhandledRejection', see);
  });
  afterEach(() => {
    process.off('unhandledRejection', see);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('at once');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('later');
      },
    ],
    [
      'is a thenable that throws',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: it is the point
        get then() {
          throw new Error('then');
        },
      }),
    ],
  ])('is logged and goes no further where a listener %s', async (_, listener) => {
    const { lines, logger } = written();
    const events = announcer(logger, new ManualSystem());
    const heard: string[] = [];
    events.on('stopped', listener);
    events.on('stopped', ({ queue }) => heard.push(queue));
    events.tell('stopped', stopped);
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual(['orders']);
    expect(lines.filter(({ event }) => event === 'stopped' || event === 'listener-failed')).toHaveLength(2);
    expect(rejections).toEqual([]);
  });

  it.each<[string, () => never | Promise<never>]>([
    [
      'throws',
      () => {
        throw new Error('stream destroyed');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('stream destroyed');
      },
    ],
  ])('harms nobody where a logger %s', async (_, fail) => {
    const logger = { debug: fail, info: fail, warn: fail, error: fail };
    const events = announcer(logger, new ManualSystem());
    events.on('stopped', () => {
      throw new Error('and a listener');
    });
    expect(() => events.tell('stopped', stopped)).not.toThrow();
    expect(() => events.tell('trouble', trouble('x'))).not.toThrow();
    await new Promise((resolve) => setImmediate(resolve));
    expect(rejections).toEqual([]);
  });
});

describe('trouble in the log', () => {
  it('is said once a second with what was left out, while listeners hear all of it', async () => {
    const system = new ManualSystem();
    const { lines, logger } = written();
    const events = announcer(logger, system);
    let heard = 0;
    events.on('trouble', () => heard++);
    for (let n = 0; n < 50; n++) events.tell('trouble', trouble('away'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toHaveProperty('leftOut');
    await system.advance(1_000);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({
      level: 'error',
      event: 'trouble',
      queue: 'orders',
      verb: 'settle',
      error: 'away',
      leftOut: 49,
    });
    events.tell('trouble', trouble('away'));
    expect(lines).toHaveLength(2);
    await system.advance(1_000);
    expect(lines[2]).toMatchObject({ leftOut: 1 });
    await system.advance(1_000);
    events.tell('trouble', trouble('away'));
    expect(lines).toHaveLength(4);
    expect(heard).toBe(52);
    events.end();
    expect(system.pending()).toBe(0);
  });

  it.each([
    ['another message', trouble('full')],
    ['another queue', trouble('away', 'images')],
    ['another verb', { ...trouble('away'), verb: 'pull' as const }],
  ])('is said at once where it is of %s', (_, other) => {
    const { lines, logger } = written();
    const events = announcer(logger, new ManualSystem());
    events.tell('trouble', trouble('away'));
    events.tell('trouble', other);
    expect(lines).toHaveLength(2);
  });

  it('says at the end what it still holds back', () => {
    const { lines, logger } = written();
    const events = announcer(logger, new ManualSystem());
    for (let n = 0; n < 3; n++) events.tell('trouble', trouble('away'));
    events.end();
    expect(lines.map(({ leftOut }) => leftOut)).toEqual([undefined, 2]);
  });

  it('carries code and cause, and is bounded', () => {
    const { lines, logger } = written();
    const events = announcer(logger, new ManualSystem());
    const cause = new Error('c'.repeat(5_000));
    const error = Object.assign(new Error('e'.repeat(5_000), { cause }), { code: 'ECONNREFUSED' });
    events.tell('trouble', { queue: 'q'.repeat(5_000), verb: 'pull', error });
    const [line] = lines;
    expect(line).toMatchObject({ code: 'ECONNREFUSED', error: `${'e'.repeat(999)}…`, cause: `${'c'.repeat(999)}…` });
    expect(line!.queue).toHaveLength(256);
  });

  it('names a thrown value that is no error', () => {
    const { lines, logger } = written();
    const events = announcer(logger, new ManualSystem());
    events.on('stopped', async () => Promise.reject({ code: 'NOAUTH', message: 'bad password' }));
    events.tell('stopped', stopped);
    return new Promise((resolve) => setImmediate(resolve)).then(() =>
      expect(lines.at(-1)).toMatchObject({ event: 'listener-failed', error: 'bad password', code: 'NOAUTH' }),
    );
  });
});

describe('the logger of an app', () => {
  async function quarantine(logger: Logger | false | undefined) {
    const system = new ManualSystem();
    const broker = memoryServer({ shape: 'table', system }).connect();
    const app = lazaret({
      broker: { name: 'memory', connect: async () => broker },
      system,
      ...(logger === undefined ? {} : { logger }),
    });
    app.consume('orders', () => {
      throw new Poison('no customer');
    });
    await app.start();
    await app.send('orders', 1, { id: 'x'.repeat(1_000) });
    await system.advance(1_000);
    await app.stop();
  }

  it('is told what became of a message, in bounded fields', async () => {
    const { lines, logger } = written();
    await quarantine(logger);
    expect(lines.map(({ level, event }) => `${level} ${event}`)).toEqual(['warn quarantined', 'info stopped']);
    expect(lines[0]).toMatchObject({ queue: 'orders', attempt: 1, reason: 'poison', why: 'Poison: no customer' });
    expect(lines[0]!.id).toHaveLength(256);
  });

  it('is stderr by default, one JSON line with its time; false is silence', async () => {
    const lines: string[] = [];
    const original = process.stderr.write;
    process.stderr.write = ((text: string) => lines.push(text) > 0) as typeof process.stderr.write;
    try {
      await quarantine(false);
      expect(lines).toEqual([]);
      await quarantine(undefined);
    } finally {
      process.stderr.write = original;
    }
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      at: '2023-11-14T22:13:20.000Z',
      level: 'warn',
      lazaret: 'quarantined',
    });
  });
});
