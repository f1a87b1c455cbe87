import amqp from 'amqplib';

/** Of a server that is there for tests: whatever is in it may be deleted. */
export const URL_VARIABLE = 'LAZARET_RABBITMQ_URL';

export const serverUrl: string | undefined = process.env[URL_VARIABLE];

/** Without a server the suites are skipped, and say so; where everything has to be shown they fail. */
export const reason: string | undefined = serverUrl === undefined ? `no server: ${URL_VARIABLE} is not set` : undefined;

export const isRequired: boolean = process.env.CI === 'true';

/** A connection beside the driver, for what a test has to see or do itself. */
export async function plainConnection(url: string = serverUrl!): Promise<amqp.ChannelModel> {
  const connection = await amqp.connect(url, { noDelay: true });
  connection.on('error', () => undefined);
  return connection;
}

/** Deletes queues, those too that are not there. */
export async function deleteQueues(names: Iterable<string>): Promise<void> {
  const connection = await plainConnection();
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  for (const name of names) await channel.deleteQueue(name);
  await connection.close();
}
