import { createServer, type Server as Listener, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { kafka } from '../../src/drivers/kafka/index.ts';
import { loadConfluent } from '../../src/drivers/kafka/load.ts';
import type { Broker, SubscribeOptions } from '../../src/ports/broker.ts';
import { realSystem } from '../../src/system.ts';
import { freshName, onKafka } from './kafka/server.ts';

const WANTED: SubscribeOptions = {
  prefetch: 10,
  leaseMs: 1_000,
  waitMs: 100,
  order: 'none',
  maxAttempts: 3,
  lost: () => undefined,
  suspects: () => undefined,
};

describe('the Kafka driver without its client', () => {
  it('names the line that installs it', async () => {
    const missing = loadConfluent(() => Promise.reject(new Error('Cannot find package')));
    await expect(missing).rejects.toMatchObject({
      code: 'LZ1101',
      hint: 'Run: npm install @confluentinc/kafka-javascript@1.10',
    });
  });
});

/** Speaks `answer` on every connection, to whatever it hears. */
class Impostor {
  readonly #listener: Listener;
  readonly #sockets = new Set<Socket>();

  constructor(answer: (heard: Buffer, socket: Socket) => void) {
    this.#listener = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (heard) => answer(heard, socket));
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#listener.listen(0, '127.0.0.1', resolve));
    const { port } = this.#listener.address() as { port: number };
    return `127.0.0.1:${port}`;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#listener.close();
  }
}

/** Length and correlation before `body`. */
function frame(heard: Buffer, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeInt32BE(body.length + 4, 0);
  head.writeInt32BE(heard.readInt32BE(8), 4);
  return Buffer.concat([head, body]);
}

/** Version 0 of the answer to ApiVersions: no error, then each api with its least and its latest version. */
function apiVersions(apis: readonly (readonly [api: number, least: number, latest: number])[], error = 0): Buffer {
  const body = Buffer.alloc(6 + 6 * apis.length);
  body.writeInt16BE(error, 0);
  body.writeInt32BE(apis.length, 2);
  for (const [at, numbers] of apis.entries()) {
    for (const [i, number] of numbers.entries()) body.writeInt16BE(number, 6 + 6 * at + 2 * i);
  }
  return body;
}

await onKafka('refusals', (server) =>
  describe('the Kafka driver', () => {
    const { client } = server;
    let impostor: Impostor | undefined;
    let broker: Broker | undefined;
    afterEach(async () => {
      impostor?.close();
      impostor = undefined;
      await broker?.close();
      broker = undefined;
    });

    const refusal = async (address: string, connectTimeout = '1500ms'): Promise<{ code: string; message: string }> => {
      const since = performance.now();
      const error = await kafka({ url: `kafka://${address}`, client, connectTimeout })
        .connect(realSystem)
        .then(
          () => expect.fail('it connected'),
          (reason: { code: string; message: string }) => reason,
        );
      expect(performance.now() - since).toBeLessThan(10_000);
      return error;
    };

    it('says within ten seconds that nobody is there', async () => {
      const error = await refusal('127.0.0.1:1', '5s');
      expect(error).toMatchObject({ code: 'LZ1130' });
      expect(error.message).toContain('No Kafka answers at 127.0.0.1:1');
    });

    it('says so of a server that never answers', async () => {
      impostor = new Impostor(() => undefined);
      expect(await refusal(await impostor.open())).toMatchObject({ code: 'LZ1130' });
    });

    it('says so of a server that speaks something else', async () => {
      impostor = new Impostor((_, socket) => socket.write('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'));
      const error = await refusal(await impostor.open());
      expect(error).toMatchObject({ code: 'LZ1130' });
      expect(error.message).toContain('is no Kafka');
    });

    it('says so of a server that is too old to be asked for its version', async () => {
      impostor = new Impostor((_, socket) => socket.destroy());
      const error = await refusal(await impostor.open());
      expect(error).toMatchObject({ code: 'LZ1130' });
      expect(error.message).toContain('older than 0.10');
    });

    it('says that the login is refused, and never the password', async () => {
      impostor = new Impostor((heard, socket) => {
        const api = heard.readInt16BE(4);
        if (api === 18) {
          const isNew = heard.readInt16BE(6) > 0;
          const apis = [
            [18, 0, 0],
            [17, 0, 1],
            [36, 0, 0],
            [3, 0, 4],
            [0, 0, 7],
            [22, 0, 1],
          ] as const;
          socket.write(frame(heard, apiVersions(apis, isNew ? 35 : 0)));
        } else if (api === 17) socket.write(frame(heard, Buffer.from('0000000000010005504c41494e', 'hex')));
        else if (api === 36) {
          const text = Buffer.from('wrong password');
          const body = Buffer.alloc(4 + text.length + 4);
          body.writeInt16BE(58, 0);
          body.writeInt16BE(text.length, 2);
          text.copy(body, 4);
          socket.write(frame(heard, body));
        }
      });
      const error = await refusal(`ana:secret-7@${await impostor.open()}`);
      expect(error).toMatchObject({ code: 'LZ1131' });
      expect(error.message).toContain("'ana'");
      expect(error.message).not.toContain('secret-7');
    });

    it('says that a topic does not exist, to who reads and to who writes', async () => {
      broker = await kafka({ url: server.url, client }).connect(realSystem);
      const since = performance.now();
      const missing = freshName();
      await expect(broker.subscribe(missing, WANTED)).rejects.toMatchObject({ code: 'LZ1302' });
      await expect(broker.inspect(missing)).rejects.toMatchObject({ code: 'LZ1302' });
      expect(await broker.publish(missing, [{ body: Buffer.from('x') }])).toEqual(['unroutable']);
      expect(performance.now() - since).toBeLessThan(10_000);
    });

    it('creates nothing where it may not', async () => {
      broker = await kafka({ url: server.url, client, partitions: 1 }).connect(realSystem);
      const queue = freshName();
      const never = await kafka({ url: server.url, client, provision: 'never' }).connect(realSystem);
      await (await broker.provision(queue, {})).apply();
      await expect(never.subscribe(queue, { ...WANTED, group: 'another' })).rejects.toMatchObject({ code: 'LZ1302' });
      await never.close();
      const all = await kafka({ url: server.url, client, provision: 'all', partitions: 1 }).connect(realSystem);
      await (await all.subscribe(freshName(), WANTED)).close();
      await all.close();
    });

    it('refuses a delayed publish, an exchange and a name that no topic can have', async () => {
      broker = await kafka({ url: server.url, client }).connect(realSystem);
      const message = { body: null };
      await expect(broker.publish('orders', [message], { delayMs: 1 })).rejects.toMatchObject({ code: 'LZ1132' });
      const exchange = { exchange: 'e', routingKey: 'r' };
      await expect(broker.publish(exchange, [message])).rejects.toMatchObject({ code: 'LZ1132' });
      await expect(broker.publish('or ders', [message])).rejects.toMatchObject({ code: 'LZ1003' });
      await expect(broker.subscribe('x'.repeat(201), WANTED)).rejects.toMatchObject({ code: 'LZ1003' });
    });
  }),
);
