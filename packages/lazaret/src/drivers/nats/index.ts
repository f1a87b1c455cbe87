import type { Driver } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import { NatsBroker } from './broker.ts';
import { dial } from './dial.ts';
import { loadClient } from './load.ts';
import { type NatsOptions, readOptions } from './options.ts';

export type { NatsOptions } from './options.ts';

/** NATS JetStream where an app takes a broker: `lazaret({ broker: nats({ url: 'nats://localhost' }) })`. Needs the packages @nats-io/transport-node and @nats-io/jetstream. */
export function nats(options: NatsOptions): Driver {
  const settings = readOptions(options);
  return {
    name: 'nats',
    async connect(system: System) {
      const client = await loadClient();
      return new NatsBroker(system, settings, await dial(client, settings, system));
    },
  };
}
