import { afterEach, describe, expect, it } from 'vitest';
import type { Delivery, Subscription } from '../../src/ports/broker.ts';
import { header, message, nothingComes, Scene, take, textOf } from './rabbitmq/scene.ts';
import { onServers, type Server, sleep } from './rabbitmq/server.ts';
import { field, KINDS, properties, short, text } from './rabbitmq/tables.ts';

const many = (count: number) => Array.from({ length: count }, (_, i) => message(`m${i}`));
const acked = (deliveries: readonly Delivery[]) => deliveries.map((delivery) => ({ delivery, verb: 'ack' as const }));

async function eventually(condition: () => Promise<boolean>, withinMs = 3_000): Promise<boolean> {
  const endAt = performance.now() + withinMs;
  while (performance.now() < endAt) {
    if (await condition()) return true;
    await sleep(20);
  }
  return false;
}

/** Two owners of 'bad' and its neighbours died. */
async function crashedTwice(server: Server, scene: Scene, neighbours: number): Promise<string> {
  const queue = await scene.queue();
  const { broker } = await scene.client();
  await broker.publish(queue, [message('bad'), ...many(neighbours)]);
  for (let n = 0; n < 2; n++) {
    const client = await scene.client();
    await take(await client.subscribe(queue), neighbours + 1);
    await client.kill();
    await eventually(async () => (await server.readyIn(queue)) === neighbours + 1);
  }
  return queue;
}

await onServers('consuming', (server) =>
  describe(`consuming from ${server.name}`, () => {
    const scene = new Scene(server);
    afterEach(() => scene.end());

    it('keeps headers of every kind byte for byte, over a retry', async () => {
      const queue = await scene.queue();
      const client = await scene.client();
      const subscription = await client.subscribe(queue);
      for (const [what, entry] of KINDS) {
        const bytes = properties([entry], {
          deliveryMode: Buffer.of(2),
          messageId: short('m'),
          priority: Buffer.of(3),
        });
        const native = { driver: 'rabbitmq', version: 1, bytes };
        expect(await client.broker.publish(queue, [{ body: Buffer.from('x'), native }]), what).toEqual(['done']);
        const [first] = await take(subscription, 1);
        await subscription.settle([{ delivery: first!, verb: 'retry', delayMs: 0 }]);
        const [second] = await take(subscription, 1);
        await subscription.settle(acked([second!]));
        for (const { message: each } of [first!, second!]) {
          expect(Buffer.from(each.native!.bytes).toString('hex'), what).toBe(bytes.toString('hex'));
        }
      }
    });

    it('lets no header of a producer stop a tier, and shows it all the same', async () => {
      const queue = await scene.queue([200]);
      const client = await scene.client();
      const bytes = properties([field('x-death', 'S', text('zzz'))], { expiration: short('600000') });
      await client.broker.publish(queue, [
        { id: 'odd', body: Buffer.from('odd'), native: { driver: 'rabbitmq', version: 1, bytes } },
        message('behind'),
      ]);
      const subscription = await client.subscribe(queue, { retryDelaysMs: [200] });
      const deliveries = await take(subscription, 2);
      await subscription.settle(deliveries.map((delivery) => ({ delivery, verb: 'retry' as const, delayMs: 200 })));
      const again = await take(subscription, 2);
      expect(again.map(({ message: each }) => textOf(each)).sort()).toEqual(['behind', 'odd']);
      const odd = again.find(({ message: { id } }) => id === 'odd')!;
      expect(header(odd.message, 'x-death')).toBe('zzz');
      expect(odd.message.headers.filter(([name]) => name.startsWith('x-'))).toHaveLength(1);
    });

    it('takes no more than its credit, less of it after a change, and nothing after 0', async () => {
      const queue = await scene.queue();
      const client = await scene.client();
      await client.broker.publish(queue, many(30));
      const subscription = await client.subscribe(queue, { prefetch: 20 });
      expect(await eventually(async () => (await server.readyIn(queue)) === 10)).toBe(true);
      await subscription.credit!(4);
      await subscription.settle(acked(await take(subscription, 24)));
      expect(await eventually(async () => (await server.readyIn(queue)) === 2)).toBe(true);
      const [held] = await take(subscription, 1);
      await subscription.credit!(0);
      expect(await eventually(async () => (await server.readyIn(queue)) === 5)).toBe(true);
      expect(await subscription.settle(acked([held!]))).toEqual(['done']);
      expect(await nothingComes(subscription, 300)).toBe(true);
      await subscription.credit!(10);
      await subscription.settle(acked(await take(subscription, 5)));
      expect(await server.readyIn(queue)).toBe(0);
    });

    it('sets all aside that may have crashed its owner, and convicts none of the neighbours', async () => {
      const queue = await crashedTwice(server, scene, 5);
      const client = await scene.client();
      const subscription = await client.subscribe(queue);
      expect(await nothingComes(subscription, 300)).toBe(true);
      expect(await eventually(async () => client.suspects === 6)).toBe(true);
      for (let n = 0; n < 6; n++) {
        const suspect = await subscription.alone!(new AbortController().signal);
        expect([suspect!.attempt, suspect!.strikes]).toEqual([1, 2]);
        await subscription.settle(acked([suspect!]));
      }
      expect(await eventually(async () => client.suspects === 0)).toBe(true);
      expect(await subscription.alone!(new AbortController().signal)).toBeUndefined();
    });

    it('keeps a suspect one that was given back untried, without a strike more', async () => {
      const queue = await crashedTwice(server, scene, 0);
      const client = await scene.client();
      const subscription = await client.subscribe(queue);
      const fetch = async (): Promise<Delivery> => {
        let suspect: Delivery | undefined;
        await eventually(async () => {
          suspect = await subscription.alone!(new AbortController().signal);
          return suspect !== undefined;
        });
        return suspect!;
      };
      for (let n = 0; n < 3; n++) {
        const suspect = await fetch();
        expect(suspect.strikes).toBe(2);
        expect(await subscription.settle([{ delivery: suspect, verb: 'release', delayMs: 0 }])).toEqual(['done']);
      }
    });

    it('makes no suspect of what is given back again and again', async () => {
      const queue = await scene.queue();
      const client = await scene.client();
      await client.broker.publish(queue, [message('patient')]);
      const subscription = await client.subscribe(queue);
      for (let n = 0; n < 6; n++) {
        const [delivery] = await take(subscription, 1);
        await subscription.settle([{ delivery: delivery!, verb: 'release', delayMs: 0 }]);
      }
      const [delivery] = await take(subscription, 1);
      expect([delivery!.attempt, client.suspects]).toEqual([1, 0]);
    });

    it('makes none of it in a classic queue either, which counts nothing', async () => {
      const queue = scene.name();
      const client = await scene.client({ provision: 'all', queueType: 'classic' });
      const subscription = await client.subscribe(queue);
      expect(subscription.capabilities.crashEvidence).toBe('flag');
      await client.broker.publish(queue, [message('patient')]);
      for (let n = 0; n < 3; n++) {
        const [delivery] = await take(subscription, 1);
        await subscription.settle([{ delivery: delivery!, verb: 'release', delayMs: 0 }]);
      }
      expect((await take(subscription, 1))[0]!.attempt).toBe(1);
    });

    it('gives back what waited here for half of the time that the server has for it', async () => {
      const queue = await scene.queue();
      const patient = await scene.client();
      await patient.broker.publish(queue, many(3));
      const short = await scene.client({ consumerTimeout: '600ms' });
      const subscription = await short.subscribe(queue);
      const [first] = await take(subscription, 1);
      expect(first!.leaseMs).toBeGreaterThan(300);
      await sleep(400);
      const again = await take(subscription, 2);
      expect(again.map(({ deliveries }) => deliveries)).toEqual([2, 2]);
    });

    it('comes back from a server that cuts it off again and again, and tells each loss once', async () => {
      const queue = await scene.queue();
      const client = await scene.client();
      const subscription = await client.subscribe(queue);
      let lost = 0;
      for (let cuts = 0; cuts < 3; cuts++) {
        const sender = await scene.client();
        await sender.broker.publish(queue, [message(`m${cuts}`)]);
        await subscription.settle(acked((await take(subscription, 1)).slice(1)));
        client.detour.cut();
        await eventually(async () => client.lost.length > lost);
        lost = client.lost.length;
        await drain(subscription);
      }
      expect(lost).toBe(3);
      expect(await eventually(async () => (await server.readyIn(queue)) === 0)).toBe(true);
    });

    it('keeps a message whose copy finds no place, and says which', async () => {
      const queue = await scene.queue([300]);
      const client = await scene.client();
      await client.broker.publish(queue, [message('kept')]);
      const subscription = await client.subscribe(queue, { retryDelaysMs: [300] });
      await server.plainly((channel) => channel.deleteQueue(`${queue}.retry.300`));
      const [delivery] = await take(subscription, 1);
      const [result] = await subscription.settle([{ delivery: delivery!, verb: 'retry', delayMs: 300 }]);
      expect(result).toMatchObject({ code: 'LZ1302', message: expect.stringContaining(`${queue}.retry.300`) });
      expect(await subscription.extend([{ delivery: delivery!, leaseMs: 1 }])).toEqual(['done']);
      await subscription.close();
      expect(await server.readyIn(queue)).toBe(1);
    });

    it('reads a dead letter queue of another name', async () => {
      const queue = scene.name();
      const graveyard = scene.name();
      const owner = await scene.client();
      await (await owner.broker.provision(queue, { deadLetter: graveyard })).apply();
      await owner.broker.publish(queue, [message('bad')]);
      const subscription = await owner.subscribe(queue, { deadLetter: graveyard });
      const [delivery] = await take(subscription, 1);
      const evidence = {
        reason: 'poison',
        queue,
        attempts: 1,
        strikes: 0,
        firstSeenAt: 1,
        deadAt: 2,
        fingerprint: 'v1:0',
        why: 'bad',
      } as const;
      await subscription.settle([{ delivery: delivery!, verb: 'deadLetter', evidence }]);
      expect(await server.readyIn(graveyard)).toBe(1);
      expect((await owner.broker.inspect(queue)).dead).toBe(1);
    });
  }),
);

async function drain(subscription: Subscription): Promise<void> {
  const deliveries = await take(subscription, 1);
  await subscription.settle(acked(deliveries));
}
