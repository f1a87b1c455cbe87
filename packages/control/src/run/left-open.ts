import type { Broker } from 'lazaret';

/** An app closes its broker when it stops; this one it does not, since there are questions to it afterwards. */
export function leftOpen(broker: Broker): Broker {
  return {
    name: broker.name,
    ...(broker.shared === undefined ? {} : { shared: broker.shared }),
    subscribe: (queue, options) => broker.subscribe(queue, options),
    capabilities: (queue) => broker.capabilities(queue),
    publish: (to, messages, options) => broker.publish(to, messages, options),
    inspect: (queue) => broker.inspect(queue),
    provision: (queue, wanted) => broker.provision(queue, wanted),
    close: async () => {},
  };
}
