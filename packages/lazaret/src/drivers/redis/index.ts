import type { Driver } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import { openRedis, type RedisBroker } from './broker.ts';
import type { RedisOptions } from './options.ts';

export type { Letter } from '../../core/letter.ts';
export { openRedis, type RedisBroker } from './broker.ts';
export type { RedisClient } from './client.ts';
export type { RedisOptions } from './options.ts';
export type { ServerDescription } from './server.ts';

/** Redis streams where an app takes a broker: `lazaret({ broker: redis({ url }) })`, or with your own client. Connected when the app starts. */
export function redis(options: RedisOptions): RedisDriver {
  return { name: 'redis', connect: (system) => openRedis({ ...options, system }) };
}

export interface RedisDriver extends Driver {
  connect(system: System): Promise<RedisBroker>;
}
