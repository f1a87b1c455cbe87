import { within } from '../../core/within.ts';
import type { System } from '../../ports/system.ts';
import type { AmqpConnection, Amqplib } from './amqplib.ts';
import type { RabbitmqSettings } from './options.ts';
import { connectError } from './refusals.ts';
import { keepRawProperties } from './wire/tap.ts';

/** How a connection is made: without Nagle's delay, with a limit to its patience, and with the properties of messages left as they come. */
export function dialler(amqplib: Amqplib, settings: RabbitmqSettings, system: System): () => Promise<AmqpConnection> {
  const { url, place, connectTimeoutMs, tls } = settings;
  const options = {
    ...tls,
    noDelay: true,
    keepAlive: true,
    timeout: connectTimeoutMs,
    clientProperties: { product: 'lazaret', connection_name: 'lazaret' },
  };
  const late = () => new Error(`no answer within ${connectTimeoutMs} ms`);
  return async () => {
    const dialling = amqplib.connect(url, options);
    try {
      const connection = await within(system, connectTimeoutMs + 500, dialling, late);
      keepRawProperties(connection.connection);
      return connection;
    } catch (error) {
      // n.b. one that still opens belongs to nobody.
      dialling.then(abandon).catch(() => undefined);
      throw connectError(error, place);
    }
  };
}

/** n.b. an error that nobody listens to ends the process. */
function abandon(connection: AmqpConnection): Promise<void> {
  connection.on('error', () => undefined);
  return connection.close();
}
