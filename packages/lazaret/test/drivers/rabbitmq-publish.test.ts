import { afterEach, describe, expect, it } from 'vitest';
import type { PublishResult } from '../../src/ports/broker.ts';
import { header, message, nothingComes, Scene, take, textOf } from './rabbitmq/scene.ts';
import { freshName, onServers, sleep } from './rabbitmq/server.ts';

await onServers('publishing', (server) =>
  describe(`publishing to ${server.name}`, () => {
    const scene = new Scene(server);
    afterEach(() => scene.end());

    it('goes by exchange and routing key, and is told where no binding is', async () => {
      const queue = await scene.queue();
      const exchange = freshName();
      await server.plainly(async (channel) => {
        await channel.assertExchange(exchange, 'topic', { durable: true });
        await channel.bindQueue(queue, exchange, 'order.*');
      });
      const client = await scene.client();
      const to = (routingKey: string) => client.broker.publish({ exchange, routingKey }, [message('m')]);
      expect([await to('order.paid'), await to('invoice.paid')]).toEqual([['done'], ['unroutable']]);
      const subscription = await client.subscribe(queue);
      const [delivery] = await take(subscription, 1);
      await subscription.settle([{ delivery: delivery!, verb: 'retry', delayMs: 0 }]);
      const [again] = await take(subscription, 1);
      expect([header(again!.message, 'lazaret-exchange'), header(again!.message, 'lazaret-routing-key')]).toEqual([
        exchange,
        'order.paid',
      ]);
      await server.plainly((channel) => channel.deleteExchange(exchange));
    });

    it('says of a missing queue and a missing exchange that there is no way, and harms no neighbour', async () => {
      const queue = await scene.queue();
      const { broker } = await scene.client();
      const results = await Promise.all([
        broker.publish(queue, [message('a')]),
        broker.publish(freshName(), [message('b'), message('c')]),
        broker.publish({ exchange: freshName(), routingKey: queue }, [message('d')]),
        broker.publish(queue, [message('e')]),
      ]);
      expect(results).toEqual([['done'], ['unroutable', 'unroutable'], ['unroutable'], ['done']]);
    });

    it('is refused by a queue that is full', async () => {
      const queue = scene.name();
      await server.plainly((channel) =>
        channel.assertQueue(queue, { arguments: { 'x-max-length': 1, 'x-overflow': 'reject-publish' } }),
      );
      const { broker } = await scene.client();
      expect(await broker.publish(queue, [message('a')])).toEqual(['done']);
      expect(await broker.publish(queue, [message('b')])).toEqual(['refused']);
    });

    it('answers unknown when the connection goes before the confirm, and goes on afterwards', async () => {
      const queue = await scene.queue();
      const { broker, detour } = await scene.client();
      detour.deafen(true);
      const results = broker.publish(queue, [message('a'), message('b')]);
      await sleep(100);
      detour.deafen(false);
      detour.cut();
      expect(await results).toEqual(['unknown', 'unknown']);
      expect(await broker.publish(queue, [message('c')])).toEqual(['done']);
    });

    it('gives up on a confirm that does not come', async () => {
      const queue = await scene.queue();
      const { broker, detour } = await scene.client({ confirmTimeout: '300ms' });
      detour.deafen(true);
      const results = await broker.publish(queue, [message('a')]);
      detour.deafen(false);
      expect(results).toEqual(['unknown']);
      expect(await until(() => broker.publish(queue, [message('c')]))).toEqual(['done']);
    });

    it('later goes through a tier that its publisher does not know, and through the shortest where there is none of its length', async () => {
      const queue = await scene.queue([300]);
      const { broker } = await scene.client();
      const client = await scene.client();
      const subscription = await client.subscribe(queue);
      expect(await broker.publish(queue, [message('soon')], { delayMs: 300 })).toEqual(['done']);
      expect(await broker.publish(queue, [message('tomorrow')], { delayMs: 3_600_000 })).toEqual(['done']);
      expect(
        await broker.publish({ exchange: 'amq.direct', routingKey: 'x' }, [message('no')], { delayMs: 1 }),
      ).toEqual([expect.objectContaining({ code: 'LZ1004' })]);
      const [soon] = await take(subscription, 1);
      expect(textOf(soon!.message)).toBe('soon');
      const staged = await server.plainly((channel) => channel.get(`${queue}.retry.10000`, { noAck: true }));
      const dueAt = Number(staged === false ? 0 : staged.properties.headers?.['lazaret-not-before']);
      expect(Math.abs(dueAt - Date.now() - 3_600_000)).toBeLessThan(10_000);
    });

    it('takes a body in many frames', async () => {
      const queue = await scene.queue();
      const client = await scene.client();
      const body = Buffer.alloc(3_000_000, 7);
      expect(await client.broker.publish(queue, [{ id: 'large', body }, message('small')])).toEqual(['done', 'done']);
      const subscription = await client.subscribe(queue);
      const [large] = await take(subscription, 2);
      expect(Buffer.from(large!.message.body!).equals(body)).toBe(true);
    });

    it('is told which message is too large, and sends those behind it all the same', async () => {
      const queue = await scene.queue();
      const client = await scene.client();
      const huge = { id: 'huge', body: Buffer.alloc(17 * 2 ** 20) };
      const copies = await client.subscribe(queue);
      await client.broker.publish(queue, [message('in hand')]);
      const [delivery] = await take(copies, 1);
      const publishing = client.broker.publish(queue, [huge, message('behind')]);
      const settled = copies.settle([{ delivery: delivery!, verb: 'retry', delayMs: 0 }]);
      const [result, ...rest] = await publishing;
      if (server.name === 'RabbitMQ 4') expect(result).toMatchObject({ code: 'LZ1119' });
      else expect(result).toBe('done');
      expect([rest, await settled]).toEqual([['done'], ['done']]);
    });

    it('waits for a connection that comes back, and says so where none does', async () => {
      const queue = await scene.queue();
      const client = await scene.client({ confirmTimeout: '500ms' });
      client.detour.cut();
      await sleep(5);
      expect(await client.broker.publish(queue, [message('a')])).toEqual(['done']);
      await client.detour.block();
      await sleep(20);
      const [result] = await client.broker.publish(queue, [message('b')]);
      expect(result).toMatchObject({ code: 'LZ1130' });
    });

    it('loses nothing of a retry whose connection is cut between publish and confirm', async () => {
      const queue = await scene.queue([200]);
      const client = await scene.client();
      await client.broker.publish(
        queue,
        Array.from({ length: 20 }, (_, i) => message(`m${i}`)),
      );
      const subscription = await client.subscribe(queue, { retryDelaysMs: [200] });
      const deliveries = await take(subscription, 20);
      client.detour.deafen(true);
      const settled = subscription.settle(
        deliveries.map((delivery) => ({ delivery, verb: 'retry' as const, delayMs: 200 })),
      );
      await sleep(60);
      client.detour.deafen(false);
      client.detour.cut();
      await settled;
      const seen = new Set<string>();
      for (let round = 0; round < 6; round++) {
        const pulled = await take(subscription, 20 - seen.size || 1, 1_000).catch(() => []);
        for (const { message: each } of pulled) seen.add(each.id!);
        await subscription.settle(pulled.map((delivery) => ({ delivery, verb: 'ack' as const })));
      }
      expect(seen.size).toBe(20);
    });

    it('keeps a retry of 5 s out of the way of one of 600 s', async () => {
      const queue = await scene.queue([500, 600_000]);
      const client = await scene.client();
      const subscription = await client.subscribe(queue, { retryDelaysMs: [500, 600_000], prefetch: 40 });
      await client.broker.publish(
        queue,
        Array.from({ length: 40 }, (_, i) => message(`m${i}`)),
      );
      const deliveries = await take(subscription, 40);
      const since = performance.now();
      await subscription.settle(
        deliveries.map((delivery, i) => ({
          delivery,
          verb: 'retry' as const,
          delayMs: i < 39 ? 600_000 : 500,
        })),
      );
      const [quick] = await take(subscription, 1, 3_000);
      expect(textOf(quick!.message)).toBe('m39');
      expect(performance.now() - since).toBeLessThan(1_000);
      expect((await client.broker.inspect(queue)).delayed).toBe(39);
      expect(await nothingComes(subscription, 300)).toBe(true);
    });
  }),
);

async function until(publish: () => Promise<readonly PublishResult[]>): Promise<readonly PublishResult[]> {
  for (let tries = 0; ; tries++) {
    const results = await publish();
    if (results[0] === 'done' || tries === 20) return results;
  }
}
