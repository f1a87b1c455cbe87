import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { variableLine } from '../../services.d/life.mjs';
import { parsePorts } from '../../services.d/place.mjs';
import { SERVERS } from '../../services.d/servers/index.mjs';

describe('the line on standard output', () => {
  const lines = Object.fromEntries(
    SERVERS.map((server) => [server.name, variableLine(server, { folder: '/nowhere', ports: [7] })]),
  );

  it.each([
    ['redis', 'LAZARET_REDIS_URL=redis://127.0.0.1:7'],
    ['postgres', 'LAZARET_POSTGRES_URL=postgres://lazaret:lazaret@127.0.0.1:7/lazaret'],
    ['rabbitmq', 'LAZARET_RABBITMQ_URL=amqp://guest:guest@127.0.0.1:7'],
    ['nats', 'LAZARET_NATS_URL=nats://127.0.0.1:7'],
    ['elasticmq', 'LAZARET_SQS_ENDPOINT=http://127.0.0.1:7'],
    ['kafka', 'LAZARET_KAFKA_BROKERS=127.0.0.1:7'],
    ['rabbitmq-4', 'LAZARET_RABBITMQ4_URL=amqp://guest:guest@127.0.0.1:7'],
  ])('carries the address of %s', (name, line) => {
    expect(lines[name]).toBe(line);
  });

  it('needs no quotes in a shell', () => {
    for (const line of Object.values(lines)) expect(line).toMatch(/^[A-Z0-9_]+=[\w:/.@-]+$/);
  });
});

describe('the servers for Docker', () => {
  const text = (name: string) => readFileSync(new URL(`../../../deploy/${name}`, import.meta.url), 'utf8');

  it('have the same addresses', () => {
    const wished = SERVERS.map((server) => variableLine(server, { folder: '/nowhere', ports: server.ports }));
    expect(text('services.env').trim().split('\n').sort()).toEqual(wished.sort());
  });

  it('listen on the same ports, on loopback alone', () => {
    const published = [...text('compose.yaml').matchAll(/^ {4}ports: \["(.+):\d+"\]$/gm)].map(([, side]) => side);
    expect(published.sort()).toEqual(SERVERS.map(({ ports: [port] }) => `127.0.0.1:${port}`).sort());
  });
});

describe('the servers', () => {
  it('share no name, variable or port', () => {
    const all = SERVERS.flatMap(({ name, variable, ports }) => [name, variable, ...ports]);
    expect(new Set(all).size).toBe(all.length);
  });

  // Else the second set of servers on a machine, a hundred higher, would run into the first.
  it('keep within a hundred ports', () => {
    const ports = SERVERS.flatMap((server) => server.ports);
    expect(Math.max(...ports) - Math.min(...ports)).toBeLessThan(100);
  });
});

it.each([
  ['21720 21721\n', [21720, 21721]],
  ['21700\n', [21700]],
])('reads the ports %j', (text, ports) => {
  expect(parsePorts(text)).toEqual(ports);
});

it.each([[''], ['\n'], ['x']])('refuses ports that are none: %j', (text) => {
  expect(() => parsePorts(text)).toThrow('names no port');
});
