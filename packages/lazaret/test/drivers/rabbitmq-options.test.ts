import { describe, expect, it } from 'vitest';
import type { AmqpConnection, Amqplib } from '../../src/drivers/rabbitmq/amqplib.ts';
import { dialler } from '../../src/drivers/rabbitmq/dial.ts';
import { rabbitmq } from '../../src/drivers/rabbitmq/index.ts';
import { loadAmqplib } from '../../src/drivers/rabbitmq/load.ts';
import { type RabbitmqOptions, readOptions } from '../../src/drivers/rabbitmq/options.ts';
import { connectError, requestError } from '../../src/drivers/rabbitmq/refusals.ts';
import { checkName, helpersOf, mainQueue } from '../../src/drivers/rabbitmq/topology.ts';
import { driverAt } from '../../src/drivers.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';

const url = 'amqp://localhost';

describe('options', () => {
  it('have defaults', () => {
    expect(readOptions({ url })).toEqual({
      url,
      place: { host: 'localhost', port: 5672, user: 'guest', virtualHost: '/' },
      provision: 'helpers',
      queueType: 'quorum',
      consumerTimeoutMs: 1_800_000,
      confirmTimeoutMs: 10_000,
      connectTimeoutMs: 5_000,
      settleTimeMs: 5_000,
      tls: {},
    });
  });

  it.each<[keyof RabbitmqOptions, unknown, object]>([
    ['provision', 'never', { provision: 'never' }],
    ['queueType', 'classic', { queueType: 'classic' }],
    ['consumerTimeout', '1h', { consumerTimeoutMs: 3_600_000 }],
    ['confirmTimeout', '3s', { confirmTimeoutMs: 3_000 }],
    ['connectTimeout', '1s', { connectTimeoutMs: 1_000 }],
    ['settleTime', '0s', { settleTimeMs: 0 }],
    ['tls', { ca: 'x' }, { tls: { ca: 'x' } }],
  ])('%s changes what it says', (name, value, expected) => {
    expect(readOptions({ url, [name]: value } as RabbitmqOptions)).toMatchObject(expected);
  });

  it.each([
    ['amqps://me:p%40ss@h:9/my%2Fhost', { host: 'h', port: 9, user: 'me', virtualHost: 'my/host' }],
    ['amqps://h', { host: 'h', port: 5671, user: 'guest', virtualHost: '/' }],
    ['amqp://h/%', { host: 'h', port: 5672, user: 'guest', virtualHost: '%' }],
  ])('read the place of %s', (address, place) => {
    expect(readOptions({ url: address }).place).toEqual(place);
  });

  it.each<[string, object, string]>([
    ['an unknown one', { url, prefech: 1 }, 'LZ1001'],
    ['an unknown one in the address', { url: 'amqp://h?provison=all' }, 'LZ1001'],
    ['one that an address cannot say', { url: 'amqp://h?tls=yes' }, 'LZ1001'],
    ['no address', {}, 'LZ1002'],
    ['an address of something else', { url: 'http://me:secret@h' }, 'LZ1003'],
    ['an address without a host', { url: 'amqp:///' }, 'LZ1003'],
    ['a bare number', { url, confirmTimeout: 5_000 }, 'LZ1042'],
    ['no time at all', { url, confirmTimeout: '0s' }, 'LZ1003'],
    ['a mode that is none', { url, provision: 'maybe' }, 'LZ1003'],
    ['a type that is none', { url, queueType: 'stream' }, 'LZ1003'],
    ['TLS that is no object', { url, tls: 'yes' }, 'LZ1002'],
  ])('refuse %s', (_, options, code) => {
    expect(() => rabbitmq(options as RabbitmqOptions)).toThrowError(expect.objectContaining({ code }));
    expect(() => rabbitmq(options as RabbitmqOptions)).not.toThrowError(/secret/);
  });

  it('may stand in the address, and go before it where they are given', () => {
    const address = 'amqp://h?provision=all&heartbeat=5&confirmTimeout=3s';
    expect(readOptions({ url: address })).toMatchObject({ provision: 'all', confirmTimeoutMs: 3_000 });
    expect(readOptions({ url: address, provision: 'never' }).provision).toBe('never');
  });

  it('are not needed where an address says all', () => {
    expect(['amqp://h', 'amqps://h'].map((address) => driverAt(address).name)).toEqual(['amqp', 'amqps']);
  });
});

describe('the client', () => {
  it('is named with the line that installs it where it is missing', async () => {
    const missing = loadAmqplib(() => Promise.reject(new Error('Cannot find package')));
    await expect(missing).rejects.toMatchObject({ code: 'LZ1101' });
    await expect(missing).rejects.toThrowError(/npm install amqplib@2\.3/);
  });

  it('may be a module of either kind', async () => {
    const client = { connect: () => Promise.reject(new Error('not now')) };
    expect(await loadAmqplib(async () => client)).toBe(client);
    expect(await loadAmqplib(async () => ({ default: client }))).toBe(client);
  });
});

describe('a connection', () => {
  it('is made without delay, with an end to its patience, and as TLS is told to', async () => {
    const asked: object[] = [];
    const client: Amqplib = {
      connect: (_, options) => {
        asked.push(options);
        return Promise.reject(new Error('connect ECONNREFUSED'));
      },
    };
    const settings = readOptions({ url, connectTimeout: '2s', tls: { ca: 'a certificate' } });
    await expect(dialler(client, settings, new ManualSystem())()).rejects.toMatchObject({ code: 'LZ1130' });
    expect(asked).toEqual([expect.objectContaining({ noDelay: true, timeout: 2_000, ca: 'a certificate' })]);
  });

  it('that never comes is given up, and closed when it comes after all', async () => {
    const system = new ManualSystem();
    let come: (connection: AmqpConnection) => void = () => undefined;
    const coming = new Promise<AmqpConnection>((resolve) => {
      come = resolve;
    });
    const client: Amqplib = { connect: () => coming };
    const dialled = dialler(client, readOptions({ url }), system)();
    const refused = expect(dialled).rejects.toMatchObject({ code: 'LZ1130' });
    await system.advance(6_000);
    await refused;
    let isClosed = false;
    come({
      on: () => undefined,
      close: async () => {
        isClosed = true;
      },
    } as unknown as AmqpConnection);
    await system.advance(0);
    expect(isClosed).toBe(true);
  });
});

describe('what a server refuses', () => {
  const place = { host: 'h', port: 5672, user: 'me', virtualHost: 'shop' };

  it.each([
    ['Handshake terminated by server: 403 (ACCESS-REFUSED) with message "…"', 'LZ1131', /user 'me'/],
    ['Expected ConnectionOpenOk; got <ConnectionClose channel:0>', 'LZ1131', /virtual host 'shop'/],
    ['connect ECONNREFUSED 127.0.0.1:5672', 'LZ1130', /h:5672 cannot be reached: connect ECONNREFUSED/],
    ['connect ETIMEDOUT', 'LZ1130', /ETIMEDOUT/],
  ])('while connecting is said: %s', (message, code, text) => {
    const error = connectError(new Error(message), place);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(text);
  });

  it('names a reason where Node gives only a code', () => {
    expect(connectError(Object.assign(new Error(''), { code: 'ECONNREFUSED' }), place).message).toMatch(/ECONNREFUSED/);
  });

  it.each([
    [404, 'LZ1302'],
    [403, 'LZ1132'],
    [405, 'LZ1132'],
    [406, 'LZ1132'],
    [undefined, 'LZ1130'],
  ])('of a request is said by its code %s', (code, expected) => {
    expect(requestError(Object.assign(new Error('no'), { code }), 'q', 'consuming q').code).toBe(expected);
  });

  it('names the one difference of a long text', () => {
    const said = `Channel closed by server: 406 (PRECONDITION-FAILED) with message "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q'"`;
    expect(requestError(new Error(said), 'q', 'creating q').message).toMatch(
      /: inequivalent arg 'x-message-ttl' for queue 'q'\./,
    );
  });
});

describe('the queues of a queue', () => {
  it('are declared so that nothing is dropped in silence', () => {
    const helpers = helpersOf('orders', { retryDelaysMs: [30_000] });
    expect(helpers.map(({ name }) => name)).toEqual([
      'orders.dlq',
      'orders.alone',
      'orders.retry.10000',
      'orders.retry.30000',
    ]);
    for (const { name, declaration } of [mainQueue('orders', 'quorum'), ...helpers]) {
      const { arguments: given } = declaration;
      expect(given['x-queue-type'], name).toBe('quorum');
      // A quorum queue without a limit has one of 20 on 4.x, and -1 is one of 0 on 3.10.
      if (given['x-message-ttl'] === undefined) expect(given['x-delivery-limit'], name).toBeGreaterThanOrEqual(100);
      if (given['x-dead-letter-exchange'] !== undefined) {
        expect([given['x-dead-letter-strategy'], given['x-overflow']], name).toEqual([
          'at-least-once',
          'reject-publish',
        ]);
      }
    }
  });

  it('wait in the queue, never in the message', () => {
    const [, , , tier] = helpersOf('orders', { retryDelaysMs: [30_000] });
    expect(tier!.declaration.arguments).toMatchObject({
      'x-message-ttl': 30_000,
      'x-dead-letter-routing-key': 'orders',
    });
  });

  it('give their dead letters to a queue of another name where one is wanted', () => {
    expect(helpersOf('orders', { deadLetter: 'graveyard' })[0]!.name).toBe('graveyard');
    expect(mainQueue('orders', 'quorum', 'graveyard').declaration.arguments['x-dead-letter-routing-key']).toBe(
      'graveyard',
    );
  });

  it.each([
    ['', /is empty/],
    ['é'.repeat(116), /longer than 230 bytes/],
  ])('need a name that leaves room for theirs: %s', (name, says) => {
    expect(() => checkName(name)).toThrowError(
      expect.objectContaining({ code: 'LZ1003', message: expect.stringMatching(says) }),
    );
    expect(() => checkName('é'.repeat(115))).not.toThrow();
  });

  it('of the classic type have what that type knows', () => {
    expect(mainQueue('orders', 'classic').declaration.arguments).toEqual({
      'x-queue-type': 'classic',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'orders.dlq',
    });
  });
});
