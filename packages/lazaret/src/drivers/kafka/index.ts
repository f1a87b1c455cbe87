import type { Driver } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import { KafkaBroker } from './broker.ts';
import type { KafkaFailure } from './client.ts';
import { connectConfluent } from './confluent.ts';
import type { Confluent } from './confluent-types.ts';
import { loadConfluent } from './load.ts';
import { type KafkaOptions, readOptions } from './options.ts';
import { connectError } from './refusals.ts';

export type { KafkaOptions } from './options.ts';

/** Kafka where an app takes a broker: `lazaret({ broker: kafka({ url: 'kafka:localhost:9092' }) })`. Needs the package @confluentinc/kafka-javascript. */
export function kafka(options: KafkaOptions): Driver {
  const settings = readOptions(options);
  return {
    name: 'kafka',
    async connect(system: System) {
      const library = (settings.client as Confluent | undefined) ?? (await loadConfluent());
      try {
        return new KafkaBroker({ system, settings, client: await connectConfluent(library, settings, system) });
      } catch (error) {
        throw connectError(error as KafkaFailure, settings.brokers, settings.user);
      }
    },
  };
}
