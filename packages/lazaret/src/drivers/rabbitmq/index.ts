import type { Driver } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import { RabbitBroker } from './broker.ts';
import { dialler } from './dial.ts';
import { loadAmqplib } from './load.ts';
import { type RabbitmqOptions, readOptions } from './options.ts';

export type { RabbitmqOptions } from './options.ts';

/** RabbitMQ where an app takes a broker: `lazaret({ broker: rabbitmq({ url: 'amqp://localhost' }) })`. Needs the package amqplib. */
export function rabbitmq(options: RabbitmqOptions): Driver {
  const settings = readOptions(options);
  return {
    name: 'rabbitmq',
    async connect(system: System) {
      const broker = new RabbitBroker({ system, settings, dial: dialler(await loadAmqplib(), settings, system) });
      await broker.open();
      return broker;
    },
  };
}
