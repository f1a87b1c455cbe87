import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type NatsOptions, nats } from '../../src/drivers/nats/index.ts';
import type { Broker } from '../../src/ports/broker.ts';
import { realSystem } from '../../src/system.ts';
import { freePort, OwnServer } from './nats/own-server.ts';
import { Scene } from './nats/scene.ts';
import { freshName, onNats } from './nats/server.ts';

const connecting = (url: string, options: Partial<NatsOptions> = {}): Promise<Broker> =>
  nats({ url, connectTimeout: '1s', answerTimeout: '1s', ...options }).connect(realSystem);

/** Says `greeting` to whoever comes, and then nothing. */
async function impostor(greeting: string): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (greeting !== '') socket.write(greeting);
    socket.on('data', (bytes) => {
      if (bytes.includes('PING')) socket.write('PONG\r\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
}

await onNats('refusals', (server) =>
  describe('a client of NATS says in one error', () => {
    const scene = new Scene(server);
    const ends: (() => unknown)[] = [];
    afterEach(async () => {
      for (const end of ends.splice(0)) await end();
      await scene.end();
    });

    it('that nobody is there', async () => {
      const url = `nats://127.0.0.1:${await freePort()}`;
      await expect(connecting(url)).rejects.toMatchObject({ code: 'LZ1130' });
    });

    it.each([
      ['says nothing', ''],
      ['is a web server', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ])('that what is there %s', async (_, greeting) => {
      const { url, close } = await impostor(greeting);
      ends.push(close);
      await expect(connecting(url)).rejects.toMatchObject({ code: 'LZ1130' });
    });

    it('that the server is too old', async () => {
      const info = { server_id: 'X', version: '2.8.4', proto: 1, headers: true, max_payload: 1024 };
      const { url, close } = await impostor(`INFO ${JSON.stringify(info)}\r\n`);
      ends.push(close);
      await expect(connecting(url)).rejects.toThrow('version 2.8.4. Use 2.9.0 or newer.');
    });

    it('that it is refused, without the password', async () => {
      const own = await OwnServer.start(['--user', 'ada', '--pass', 'right']);
      ends.push(() => own.end());
      const wrong = own.url.replace('//', '//ada:wrong-secret@');
      const failure = await connecting(wrong).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'LZ1131' });
      expect(String(failure)).toContain("login of user 'ada'");
      expect(String(failure)).not.toContain('secret');
      const right = await connecting(own.url.replace('//', '//ada:right@'));
      await right.close();
    });

    it('that there is no JetStream', async () => {
      const own = await OwnServer.start(['--no-js']);
      ends.push(() => own.end());
      await expect(connecting(own.url)).rejects.toThrow('no JetStream');
    });

    it('that a queue is missing, to whoever asks for it', async () => {
      const { broker, ...client } = await scene.client();
      const queue = freshName();
      const code = { code: 'LZ1302' };
      await expect((await scene.client()).subscribe(queue)).rejects.toMatchObject(code);
      await expect(broker.inspect(queue)).rejects.toMatchObject(code);
      await expect(broker.capabilities(queue)).rejects.toMatchObject(code);
      await expect(broker.browse!(queue, undefined, 1)).rejects.toMatchObject(code);
      await expect((await scene.client()).subscribe(`${queue}/worker`)).rejects.toMatchObject(code);
      expect(client.lost).toEqual([]);
    });

    it('that its helpers are missing where nothing may be created', async () => {
      const queue = scene.name();
      await (await scene.manager).streams.add({ name: queue, subjects: [queue] });
      const never = await scene.client({ provision: 'never' });
      await expect(never.subscribe(queue)).rejects.toMatchObject({ code: 'LZ1302' });
      const all = await scene.client({ provision: 'all' });
      await expect(all.subscribe(scene.name())).resolves.toBeDefined();
    });

    it('to whoever pulls, that the consumer was deleted under it, and asks on in peace', async () => {
      const queue = await scene.queue();
      const client = await scene.client();
      const subscription = await client.subscribe(queue, { waitMs: 6_000 });
      const pull = subscription.pull(1, new AbortController().signal);
      pull.catch(() => undefined);
      const manager = await scene.manager;
      await expect.poll(async () => (await manager.consumers.info(queue, queue)).num_waiting).toBe(1);
      await manager.consumers.delete(queue, queue);
      await expect(pull).rejects.toMatchObject({ code: 'LZ1132' });
    }, 10_000);

    it('nothing while a server that went away is awaited, and goes on when it is back', async () => {
      const own = await OwnServer.start();
      ends.push(() => own.end());
      const broker = await connecting(own.url, { provision: 'all' });
      ends.push(() => broker.close());
      const queue = freshName();
      const subscription = await broker.subscribe(queue, {
        prefetch: 10,
        leaseMs: 1_000,
        waitMs: 8_000,
        order: 'none',
        maxAttempts: 4,
        lost: () => undefined,
        suspects: () => undefined,
      });
      const pull = subscription.pull(1, new AbortController().signal);
      await own.kill();
      expect(await broker.publish(queue, [{ body: null }])).not.toEqual(['done']);
      await own.up();
      const published = async () => (await broker.publish(queue, [{ body: Buffer.from('back') }]))[0];
      await expect.poll(published, { timeout: 5_000, interval: 100 }).toBe('done');
      expect(await pull).toHaveLength(1);
    }, 15_000);
  }),
);
