import { describe, expect, it } from 'vitest';
import { memoryServer } from '../../src/drivers/memory/index.ts';
import type {
  ConsumeOptions,
  Delivery,
  Evidence,
  Handler,
  LazaretOptions,
  QueueOptions,
  Schema,
  SubscribeOptions,
} from '../../src/index.ts';
import { lazaret, resilient } from '../../src/index.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';
import { refusal } from '../core/refusal.ts';
import { over, scene } from './scene.ts';

/** One consumer of 'orders' on the manual clock, with what it asked of the broker and the evidence of its letters. */
async function consuming(options: object, handler: Handler, ofApp: Partial<LazaretOptions> = {}) {
  const system = new ManualSystem();
  const asked: SubscribeOptions[] = [];
  const letters: Evidence[] = [];
  const broker = memoryServer({ shape: 'table', system }).connect();
  const watched = over(broker, {
    subscribe: async (queue, wanted) => {
      asked.push(wanted);
      const subscription = await broker.subscribe(queue, wanted);
      return over(subscription, {
        settle: (batch) => {
          for (const settlement of batch) if (settlement.verb === 'deadLetter') letters.push(settlement.evidence);
          return subscription.settle(batch);
        },
      });
    },
  });
  const orders = lazaret({ broker: { name: 'memory', connect: async () => watched }, system, logger: false, ...ofApp });
  orders.consume('orders', options as QueueOptions<unknown>, handler);
  await orders.start();
  return { app: orders, system, asked, letters };
}

const fail: Handler = () => {
  throw new RangeError('no');
};

describe('an option of a consumer', () => {
  it.each([
    ['10b', ['oversize']],
    ['11b', []],
  ])('maxBody %s leaves letters %j of a body of eleven bytes', async (maxBody, reasons) => {
    const { app, system, letters } = await consuming({ maxBody }, () => {});
    await app.send('orders', new Uint8Array(11));
    await system.advance(1_000);
    expect(letters.map(({ reason }) => reason)).toEqual(reasons);
    await app.stop();
  });

  it.each<[string, object, object, string | undefined]>([
    ['none', {}, {}, undefined],
    ['that of the app', {}, { version: '1.0.0' }, '1.0.0'],
    ['that of the consumer', { version: '2.0.0' }, {}, '2.0.0'],
    ['that of the consumer before that of the app', { version: '2.0.0' }, { version: '1.0.0' }, '2.0.0'],
  ])('version: a letter carries %s', async (_, options, ofApp, version) => {
    const { app, system, letters } = await consuming({ maxAttempts: 1, ...options }, fail, ofApp);
    await app.send('orders', 1);
    await system.advance(1_000);
    expect(letters).toHaveLength(1);
    expect(letters[0]!.version).toBe(version);
    await app.stop();
  });

  it.each<[string, ConsumeOptions, string[]]>([
    ['nothing', {}, ['unknown 1']],
    ['poison', { poison: [RangeError] }, ['quarantined poison']],
    ['transient', { transient: [RangeError] }, ['declared RangeError 1']],
    ['classify', { classify: (error) => (error instanceof RangeError ? 'poison' : undefined) }, ['quarantined poison']],
    ['a silent classify', { classify: () => undefined }, ['unknown 1']],
  ])('%s decides what a thrown error means', async (_, options, expected) => {
    const heard: string[] = [];
    const { app, system } = await consuming(options, fail);
    app.on('retrying', ({ rule, attempt }) => heard.push(`${rule === 'unmatched' ? 'unknown' : rule} ${attempt}`));
    app.on('quarantined', ({ reason }) => heard.push(`quarantined ${reason}`));
    await app.send('orders', 1);
    await system.advance(500);
    expect(heard).toEqual(expected);
    await app.stop();
  });

  const trimmed: Schema<string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: async (value) =>
        typeof value === 'string' ? { value: value.trim() } : { issues: [{ message: 'no text', path: ['a', 0] }] },
    },
  };

  it.each<[string, object, unknown[], string[]]>([
    [
      'with a schema',
      { schema: trimmed },
      ['x'],
      ['schema SchemaError: body does not fit its schema at $.a[0]: no text'],
    ],
    ['without', {}, [' x ', 7], []],
  ])('schema: %s', async (_, options, bodies, whys) => {
    const seen: unknown[] = [];
    const { app, system, letters } = await consuming(
      options,
      (message) => void seen.push(message.json(), message.json()),
    );
    for (const body of [' x ', 7]) await app.send('orders', body);
    await system.advance(1_000);
    expect(seen).toEqual(bodies.flatMap((body) => [body, body]));
    expect(letters.map(({ reason, why }) => `${reason} ${why}`)).toEqual(whys);
    await app.stop();
  });

  it('schema gives a handler its type', () => {
    const app = lazaret({ broker: 'memory:', logger: false });
    const lengths: number[] = [];
    app.consume('orders', { schema: trimmed }, (message) => void lengths.push(message.json().length));
    // @ts-expect-error: without a schema nobody knows the type
    app.consume('images', {}, (message) => void lengths.push(message.json().length));
  });

  it.each([1, 5])('parking.lane %d bounds what waits in memory behind one key', async (lane) => {
    const { system, process } = scene();
    let handed = 0;
    const one = (): Delivery => {
      const id = `m-${handed++}`;
      const message = { id, key: 'k', body: null, headers: [] };
      return { message, source: { queue: 'orders' }, receipt: id, attempt: 1, strikes: 0, firstSeenAt: 0 };
    };
    // n.b. the memory broker hands out heads of keys only, so it is one that leaves the order to us.
    const { app } = process('1s', (broker) =>
      over(broker, {
        subscribe: async (queue, wanted) => over(await broker.subscribe(queue, wanted), { pull: async () => [one()] }),
      }),
    );
    app.consume('orders', { ordering: 'key', parking: { lane }, concurrency: 20 }, () => new Promise(() => undefined));
    await app.start();
    await system.advance(1_000);
    expect(app.health().queues.orders).toMatchObject({ running: 1, waiting: lane });
    expect(handed).toBe(1 + lane);
    const stopping = app.stop({ within: '1s' });
    await system.advance(1_000);
    await stopping;
  });
});

describe('an option of an app', () => {
  it.each([
    [undefined, undefined],
    ['billing', 'billing'],
  ])('group %s is asked for as %s', async (given, group) => {
    const { app, asked } = await consuming({}, () => {}, given === undefined ? {} : { group: given });
    expect(asked.map((wanted) => wanted.group)).toEqual([group]);
    await app.stop();
  });

  it.each([
    [undefined, 5_000],
    ['2s', 2_000],
    ['100ms', 100],
  ])('wait %s lets a pull of an empty queue wait %d ms', async (wait, waitMs) => {
    const { app, asked } = await consuming({}, () => {}, wait === undefined ? {} : { wait });
    expect(asked.map((wanted) => wanted.waitMs)).toEqual([waitMs]);
    await app.stop();
  });

  it.each<[string, unknown, string]>([
    ['none', undefined, 'LZ1002'],
    ['text', 'sqlite:x', 'LZ1002'],
    ['no broker', {}, 'LZ1002'],
    ['a broker that is no driver', { broker: {} }, 'LZ1002'],
    ['a broker of a strange scheme', { broker: 'kafak:x' }, 'LZ1053'],
    ['a misspelt option', { broker: 'memory:', vresion: '1' }, 'LZ1001'],
    ['a version that is a number', { broker: 'memory:', version: 42 }, 'LZ1002'],
    ['an empty version', { broker: 'memory:', version: '' }, 'LZ1003'],
    ['a version that is too long', { broker: 'memory:', version: 'x'.repeat(101) }, 'LZ1003'],
    ['a group that is a number', { broker: 'memory:', group: 1 }, 'LZ1002'],
    ['an empty group', { broker: 'memory:', group: '' }, 'LZ1003'],
    ['a logger without methods', { broker: 'memory:', logger: {} }, 'LZ1002'],
    ['a logger that is true', { broker: 'memory:', logger: true }, 'LZ1002'],
    ['a system without a clock', { broker: 'memory:', system: {} }, 'LZ1002'],
    ['a wait of nothing', { broker: 'memory:', wait: '0s' }, 'LZ1003'],
    ['a wait that spins', { broker: 'memory:', wait: '99ms' }, 'LZ1003'],
    ['a wait without a unit', { broker: 'memory:', wait: 5 }, 'LZ1042'],
  ])('%s is refused at once', (_, options, code) => {
    expect(refusal(() => lazaret(options as LazaretOptions)).code).toBe(code);
  });
});

describe('consume', () => {
  const url = new URL('file:///handler.js');
  it.each<[string, unknown[]]>([
    ['nothing', [undefined]],
    ['a wrong import beside options', [{}, undefined]],
    ['text', ['handler']],
    ['the arguments the wrong way round', [() => {}, {}]],
    ['a file without isolation', [{ handler: url }]],
    ['isolation of a closure', [{ isolate: 'process' }, () => {}]],
    ['isolation with a schema', [{ isolate: 'process', handler: url, schema: {} }]],
    ['isolation with poison', [{ isolate: 'process', handler: url, poison: [RangeError] }]],
    ['isolation with transient', [{ isolate: 'process', handler: url, transient: [RangeError] }]],
  ])('refuses %s with LZ1004 and says what to do', (_, given) => {
    const app = lazaret({ broker: 'memory:', logger: false });
    const consume = app.consume as (queue: string, ...rest: unknown[]) => unknown;
    expect(() => consume('orders', ...given)).toThrow(
      expect.objectContaining({ code: 'LZ1004', hint: expect.any(String) }),
    );
  });

  it.each<[string, unknown]>([
    ['poison', [42]],
    ['transient', ['RangeError']],
    ['poison', [() => {}]],
  ])('refuses %s: %j, which would match nothing', (name, classes) => {
    const app = lazaret({ broker: 'memory:', logger: false });
    expect(refusal(() => app.consume('orders', { [name]: classes } as QueueOptions<unknown>, () => {}))).toMatchObject({
      code: 'LZ1002',
      message: expect.stringContaining(`${name}[0]`),
    });
  });
});

describe('resilient', () => {
  it.each(['concurrency', 'ordering', 'heartbeat', 'isolate', 'visibilityTimeout', 'parking'])(
    'refuses %s, which needs a runtime',
    (name) => {
      expect(refusal(() => resilient(() => {}, { [name]: 1 })).code).toBe('LZ1001');
    },
  );

  it('refuses what is no handler', () => {
    expect(refusal(() => resilient(undefined as unknown as Handler)).code).toBe('LZ1002');
  });
});

describe('stop', () => {
  it.each<[string, unknown, string]>([
    ['a bare number', { within: 25 }, 'LZ1042'],
    ['a misspelt option', { withn: '5s' }, 'LZ1001'],
  ])('with %s stops all the same, and rejects then', async (_, options, code) => {
    const { system, process, of } = scene();
    const { app } = process('1s');
    app.consume('orders', () => {});
    await app.start();
    const stopping = app.stop(options as { within: string });
    stopping.catch(() => undefined);
    await system.advance(2_000);
    expect(of('stopped')).toHaveLength(1);
    await expect(stopping).rejects.toMatchObject({ code });
    expect(await app.stop()).toMatchObject({ finished: 0 });
  });
});

describe('describe', () => {
  it('names the queue that was probably meant', () => {
    const app = lazaret({ broker: 'memory:', logger: false });
    app.consume('orders', () => {});
    expect(refusal(() => app.describe('oders'))).toEqual({
      code: 'LZ1054',
      message: "queue 'oders' is not consumed by this app. Did you mean 'orders'?",
    });
    expect(refusal(() => app.describe('x')).message).toMatch(/Register it with 'consume' first\.$/);
  });
});
