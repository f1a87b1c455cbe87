import { Redis } from 'ioredis';
import { realSystem } from '../../../src/system.ts';
import { onServer } from '../on-server.ts';

/** Registers `tests` where a Redis server can be had. Whatever is in it may be used; what tests made they delete. */
export function onRedis(what: string, tests: (url: string) => unknown): Promise<void> {
  return onServer(`Redis: ${what}`, 'LAZARET_REDIS_URL', tests);
}

/** A name that no other test has. */
export function freshQueue(): string {
  return `lz-test-${realSystem.id()}`;
}

/** A client past the driver. */
export async function plainly<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url);
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

/** Everything of these queues. */
export function deleteQueues(url: string, queues: readonly string[]): Promise<void> {
  return plainly(url, async (client) => {
    for (const queue of queues) {
      const keys = await client.keys(`*${queue}*`);
      if (keys.length > 0) await client.del(...keys);
    }
  });
}
