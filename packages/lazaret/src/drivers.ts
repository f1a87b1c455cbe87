import { LazaretError } from './core/errors.ts';
import { fileOf } from './file-of.ts';
import type { Driver } from './ports/broker.ts';

/** Which driver an address means. Drivers are loaded when they connect, so that an app pays only for its own. */
const DRIVERS: ReadonlyMap<string, (address: string) => Promise<Driver>> = new Map<
  string,
  (address: string) => Promise<Driver>
>([
  ['memory', async () => (await import('./drivers/memory/index.ts')).memory({ shape: 'table' })],
  ['amqp', async (url) => (await import('./drivers/rabbitmq/index.ts')).rabbitmq({ url })],
  ['amqps', async (url) => (await import('./drivers/rabbitmq/index.ts')).rabbitmq({ url })],
  ['kafka', async (url) => (await import('./drivers/kafka/index.ts')).kafka({ url })],
  ['nats', async (url) => (await import('./drivers/nats/index.ts')).nats({ url })],
  ['postgres', async (url) => (await import('./drivers/postgres/index.ts')).postgres({ url })],
  ['postgresql', async (url) => (await import('./drivers/postgres/index.ts')).postgres({ url })],
  ['redis', async (url) => (await import('./drivers/redis/index.ts')).redis({ url })],
  ['rediss', async (url) => (await import('./drivers/redis/index.ts')).redis({ url })],
  ['sqlite', async (address) => (await import('./drivers/sqlite/index.ts')).sqlite({ file: fileOf(address) })],
]);

/** The driver of an address like 'sqlite:./orders.db'. Throws LZ1053 for a scheme that nobody drives. */
export function driverAt(address: string): Driver {
  const scheme = /^([a-z][a-z0-9+.-]*):/.exec(address)?.[1];
  const load = scheme === undefined ? undefined : DRIVERS.get(scheme);
  if (scheme === undefined || load === undefined) {
    // An address may carry a password, so it is not repeated.
    throw new LazaretError(
      'LZ1053',
      `no driver for ${scheme === undefined ? 'an address without a scheme' : `addresses of '${scheme}:'`}.`,
      {
        hint: `Use one of ${[...DRIVERS.keys()].map((name) => `'${name}:…'`).join(', ')}, or hand in a driver object.`,
      },
    );
  }
  return { name: scheme, connect: async (system) => (await load(address)).connect(system) };
}
