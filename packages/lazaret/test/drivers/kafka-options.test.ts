import { describe, expect, it } from 'vitest';
import { kafka } from '../../src/drivers/kafka/index.ts';
import { type KafkaOptions, readOptions } from '../../src/drivers/kafka/options.ts';
import { tierFor, tiersOf } from '../../src/drivers/kafka/tiers.ts';

describe("the Kafka driver's options", () => {
  it.each([
    ['kafka:localhost', { brokers: 'localhost:9092', user: undefined }],
    ['kafka://a:1,b:2', { brokers: 'a:1,b:2' }],
    ['kafka://ana:p%40ss@host:9093', { brokers: 'host:9093', user: 'ana' }],
    ['kafka://host?provision=all&partitions=12&replication=3', { provision: 'all', partitions: 12, replication: 3 }],
    ['kafka://host?sessionTimeout=30s', { sessionTimeoutMs: 30_000 }],
  ])('reads the address %s', (url, wanted) => {
    expect(readOptions({ url })).toMatchObject(wanted);
  });

  it('hands login and TLS to the client', () => {
    expect(readOptions({ url: 'kafka://ana:p%40ss@host?tls=true' }).common).toMatchObject({
      'security.protocol': 'sasl_ssl',
      'sasl.mechanisms': 'PLAIN',
      'sasl.username': 'ana',
      'sasl.password': 'p@ss',
    });
    const config = { 'sasl.mechanisms': 'SCRAM-SHA-512' };
    expect(readOptions({ url: 'kafka://ana:x@host', config }).common).toMatchObject(config);
  });

  it.each([
    [{ url: 'amqp://host' }, 'LZ1003'],
    [{ url: 7 }, 'LZ1002'],
    [{ url: 'kafka:a b' }, 'LZ1003'],
    [{ url: 'kafka:h', partitons: 3 }, 'LZ1001'],
    [{ url: 'kafka:h?colour=red' }, 'LZ1001'],
    [{ url: 'kafka:h', partitions: 0 }, 'LZ1003'],
    [{ url: 'kafka:h', provision: 'some' }, 'LZ1002'],
    [{ url: 'kafka:h', group: 'or ders' }, 'LZ1003'],
    [{ url: 'kafka:h', confirmTimeout: 1000 }, 'LZ1042'],
  ])('refuses %j', (given, code) => {
    expect(() => kafka(given as unknown as KafkaOptions)).toThrow(expect.objectContaining({ code }));
  });

  it('repeats no password in an error', () => {
    expect(() => readOptions({ url: 'kafka://ana:secret-7@' })).toThrow(/^(?!.*secret-7)/);
  });
});

describe('the retry tiers of Kafka', () => {
  it.each([
    [[], ['10s']],
    [[2_000], ['10s']],
    [[11_000], ['10s', '40s']],
    [
      [30_000, 600_000],
      ['10s', '40s', '3m', '12m'],
    ],
    [[1e12], ['10s', '40s', '3m', '12m', '1h', '4h', '1d']],
  ])('for waits of %j ms are %j', (delays, names) => {
    expect(tiersOf('orders', 'billing', delays).map(({ name }) => name)).toEqual(
      names.map((name) => `orders.billing.retry.${name}`),
    );
  });

  it('take a wait in the first that is not shorter, or in the longest', () => {
    const tiers = tiersOf('q', 'g', [40_000]);
    expect([1, 10_000, 10_001, 1e9].map((ms) => tierFor(tiers, ms).delayMs)).toEqual([10_000, 10_000, 40_000, 40_000]);
  });
});
