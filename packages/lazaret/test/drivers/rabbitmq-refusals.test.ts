import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { rabbitmq } from '../../src/drivers/rabbitmq/index.ts';
import { realSystem } from '../../src/system.ts';
import { Scene } from './rabbitmq/scene.ts';
import { onServers, type Server } from './rabbitmq/server.ts';

function connecting(server: Server, change: (url: URL) => void): Promise<unknown> {
  const url = new URL(server.url);
  change(url);
  return rabbitmq({ url: url.toString(), connectTimeout: '1s' }).connect(realSystem);
}

await onServers('refusals', (server) =>
  describe(server.name, () => {
    const scene = new Scene(server);
    afterEach(() => scene.end());

    it.each<[what: string, change: (url: URL) => void, code: string, says: RegExp]>([
      [
        'wrong password',
        (url) => {
          url.password = 'wrong';
        },
        'LZ1131',
        /refuses the login of user 'guest'/,
      ],
      [
        'missing virtual host',
        (url) => {
          url.pathname = '/nowhere';
        },
        'LZ1131',
        /has no virtual host 'nowhere'/,
      ],
      [
        'port where nobody listens',
        (url) => {
          url.port = '1';
        },
        'LZ1130',
        /cannot be reached: .*ECONNREFUSED/,
      ],
    ])('says one clear thing of a %s', async (_, change, code, says) => {
      const failing = connecting(server, change);
      await expect(failing).rejects.toMatchObject({ code });
      await expect(failing).rejects.toThrowError(says);
      await expect(failing).rejects.not.toThrowError(/wrong/);
    });

    it('that says nothing at all is not waited for without end', async () => {
      const silent = createServer(() => undefined).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const failing = connecting(server, (url) => {
        url.port = String((silent.address() as AddressInfo).port);
      });
      await expect(failing).rejects.toMatchObject({ code: 'LZ1130' });
      silent.close();
    });

    it('names a queue that is not there', async () => {
      const { broker } = await scene.client();
      const queue = scene.name();
      await expect(broker.inspect(queue)).rejects.toMatchObject({ code: 'LZ1302' });
    });

    it('refuses to consume a queue that is not there, and makes none', async () => {
      const client = await scene.client();
      const queue = scene.name();
      await expect(client.subscribe(queue)).rejects.toMatchObject({ code: 'LZ1302' });
      const plan = await client.broker.provision(queue, {});
      expect(plan.steps.map(({ action }) => action)).toEqual(['create', 'create', 'create', 'create']);
    });

    it('makes all that is missing where it is told to', async () => {
      const client = await scene.client({ provision: 'all' });
      const queue = scene.name([20_000]);
      await client.subscribe(queue, { retryDelaysMs: [20_000] });
      expect((await client.broker.provision(queue, { retryDelaysMs: [20_000] })).steps).toEqual([]);
    });

    it('leaves alone for a while what it has just made', async () => {
      const { broker } = await scene.client({ settleTime: '400ms' });
      const queue = scene.name();
      const plan = await broker.provision(queue, {});
      const since = performance.now();
      await plan.apply();
      expect(performance.now() - since).toBeGreaterThan(395);
      const again = performance.now();
      await (await broker.provision(queue, {})).apply();
      expect(performance.now() - again).toBeLessThan(350);
    });

    it('consumes a queue as it finds it, and makes what belongs to it', async () => {
      const client = await scene.client();
      const queue = scene.name();
      await server.plainly((channel) =>
        channel.assertQueue(queue, { durable: true, arguments: { 'x-max-length': 9 } }),
      );
      await client.subscribe(queue);
      const { steps } = await client.broker.provision(queue, {});
      expect(steps.map(({ action, what }) => [action, what])).toEqual([['conflict', queue]]);
      expect(steps[0]!.why).toMatch(/inequivalent arg/);
    });

    it('makes nothing where it is told not to, and names what is missing', async () => {
      const client = await scene.client({ provision: 'never' });
      const queue = scene.name();
      await server.plainly((channel) => channel.assertQueue(queue, { durable: true }));
      const consuming = client.subscribe(queue);
      await expect(consuming).rejects.toMatchObject({ code: 'LZ1302' });
      await expect(consuming).rejects.toThrowError(`'${queue}.dlq', '${queue}.alone', '${queue}.retry.10000'`);
    });

    it.each([
      ['a consumer group', { group: 'g' }, 'LZ1004'],
      ['order by key', { order: 'key' as const }, 'LZ1051'],
    ])('has no %s', async (_, options, code) => {
      const client = await scene.client();
      await expect(client.subscribe(scene.name(), options)).rejects.toMatchObject({ code });
    });

    it('tells whoever pulls that its queue was deleted, and goes on when it is back', async () => {
      const client = await scene.client();
      const queue = await scene.queue();
      const subscription = await client.subscribe(queue);
      await server.plainly((channel) => channel.deleteQueue(queue));
      const trouble = async () => {
        for (;;) await subscription.pull(1, new AbortController().signal);
      };
      await expect(trouble()).rejects.toMatchObject({ code: 'LZ1302' });
      const owner = await scene.client();
      await (await owner.broker.provision(queue, {})).apply();
      await owner.broker.publish(queue, [{ id: 'again', body: Buffer.from('again') }]);
      const back = async () => {
        for (;;) {
          const pulled = await subscription.pull(1, new AbortController().signal).catch(() => []);
          if (pulled.length > 0) return pulled[0]!.message.id;
        }
      };
      expect(await back()).toBe('again');
    });
  }),
);
