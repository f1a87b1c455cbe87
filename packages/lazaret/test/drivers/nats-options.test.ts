import { describe, expect, it } from 'vitest';
import { loadClient } from '../../src/drivers/nats/load.ts';
import { type NatsOptions, readOptions } from '../../src/drivers/nats/options.ts';

const URL = 'nats://localhost';

describe('the options of the NATS driver', () => {
  it('have safe defaults', () => {
    expect(readOptions({ url: URL })).toEqual({
      servers: ['localhost:4222'],
      user: '',
      password: '',
      isSecure: false,
      provision: 'helpers',
      ackWaitMs: 90_000,
      dedupeWindowMs: 120_000,
      replicas: 1,
      answerTimeoutMs: 5_000,
      connectTimeoutMs: 5_000,
      client: {},
    });
  });

  it.each<[string, NatsOptions, object]>([
    ['a user', { url: 'nats://ada:p%40ss@host:5000' }, { servers: ['host:5000'], user: 'ada', password: 'p@ss' }],
    ['a token', { url: 'nats://secret@host' }, { user: 'secret', password: '' }],
    ['TLS', { url: 'tls://host' }, { isSecure: true }],
    ['a cluster', { url: 'nats://a:1,b,nats://c:3' }, { servers: ['a:1', 'b:4222', 'c:3'] }],
    [
      'options in the address',
      { url: `${URL}?provision=all&replicas=3&ackWait=30s` },
      { provision: 'all', replicas: 3, ackWaitMs: 30_000 },
    ],
    [
      'options before those of the address',
      { url: `${URL}?provision=all`, provision: 'never' },
      { provision: 'never' },
    ],
    [
      'times',
      { url: URL, dedupeWindow: '1m', answerTimeout: '1s', connectTimeout: '2s' },
      { dedupeWindowMs: 60_000, answerTimeoutMs: 1_000, connectTimeoutMs: 2_000 },
    ],
    ['options of the client', { url: URL, client: { inboxPrefix: '_X' } }, { client: { inboxPrefix: '_X' } }],
  ])('understand %s', (_, options, expected) => {
    expect(readOptions(options)).toMatchObject(expected);
  });

  it.each<[string, unknown, string]>([
    ['no address', { url: 7 }, 'LZ1002'],
    ['an address of something else', { url: 'http://user:secret@host' }, 'LZ1003'],
    ['an unknown option', { url: URL, provison: 'all' }, 'LZ1001'],
    ['an unknown option in the address', { url: `${URL}?ackwait=3s` }, 'LZ1001'],
    ['a provision that is none', { url: URL, provision: 'some' }, 'LZ1003'],
    ['no lease', { url: URL, ackWait: '0s' }, 'LZ1003'],
    ['a bare number', { url: URL, ackWait: 30 }, 'LZ1042'],
    ['replicas that are none', { url: URL, replicas: 0 }, 'LZ1003'],
    ['a client that is no object', { url: URL, client: 'x' }, 'LZ1002'],
  ])('refuse %s, and repeat no password', (_, options, code) => {
    const read = () => readOptions(options as NatsOptions);
    expect(read).toThrow(expect.objectContaining({ code }));
    expect(read).not.toThrow(/secret/);
  });

  it('name the line that installs the client where it is missing', async () => {
    const missing = () => Promise.reject(new Error('no such package'));
    await expect(loadClient(missing)).rejects.toMatchObject({
      code: 'LZ1101',
      hint: 'Run: npm install @nats-io/transport-node@3.4 @nats-io/jetstream@3.4',
    });
  });
});
