import { afterEach, describe, expect, it } from 'vitest';
import { lettersOf } from './nats/harness.ts';
import { message, one, Scene, textOf } from './nats/scene.ts';
import { onNats, sleep } from './nats/server.ts';

await onNats('consuming', (server) =>
  describe('a consumer on NATS', () => {
    const scene = new Scene(server);
    afterEach(() => scene.end());

    it('says nothing to the server about what it held too long, and tells it first', async () => {
      const client = await scene.client();
      const queue = await scene.queue('200ms');
      const subscription = await client.subscribe(queue);
      await client.broker.publish(queue, [message('slow')]);
      const late = await one(subscription);
      const current = await one(subscription);
      expect(client.lost).toEqual([late]);
      expect(await subscription.settle([{ delivery: late, verb: 'ack' }])).toEqual(['lost']);
      expect(await subscription.extend([{ delivery: late, leaseMs: 200 }])).toEqual(['lost']);
      const manager = await scene.manager;
      expect((await manager.consumers.info(queue, queue)).num_ack_pending).toBe(1);
      expect(await subscription.settle([{ delivery: current, verb: 'ack' }])).toEqual(['done']);
      expect((await manager.streams.info(queue)).state.messages).toBe(0);
    });

    it('keeps up a lease that is wanted longer than the server gives one, and lets it go at its end', async () => {
      const client = await scene.client();
      const queue = await scene.queue('200ms');
      const subscription = await client.subscribe(queue, { leaseMs: 700, waitMs: 500 });
      const other = await (await scene.client()).subscribe(queue, { waitMs: 500 });
      await client.broker.publish(queue, [message('kept')]);
      const delivery = await one(subscription);
      expect(delivery.leaseMs).toBeGreaterThan(600);
      expect(await other.pull(1, new AbortController().signal)).toEqual([]);
      expect(client.lost).toEqual([]);
      await sleep(700);
      expect(client.lost).toEqual([delivery]);
      expect((await one(other)).deliveries).toBe(2);
    });

    it('takes the count of deliveries for the attempt, up to the last one, and carries it on in a copy', async () => {
      const client = await scene.client();
      const queue = await scene.queue();
      const subscription = await client.subscribe(queue, { maxAttempts: 3 });
      await client.broker.publish(queue, [message('failing')]);
      const attempts: number[] = [];
      for (const notBefore of [undefined, Date.now() + 60_000, undefined, undefined]) {
        const delivery = await one(subscription);
        attempts.push(delivery.attempt);
        const staged = notBefore === undefined ? {} : { notBefore };
        await subscription.settle([{ delivery, verb: 'retry', delayMs: 0, ...staged }]);
      }
      expect(attempts).toEqual([1, 2, 3, 3]);
    });

    it('says the delay of a retry itself, whatever waits the consumer has', async () => {
      const queue = scene.name();
      const manager = await scene.manager;
      await manager.streams.add({ name: queue, subjects: [queue], retention: 'workqueue' });
      await manager.consumers.add(queue, {
        durable_name: queue,
        ack_policy: 'explicit',
        max_deliver: 100,
        backoff: [30e9, 60e9],
      });
      const client = await scene.client();
      const subscription = await client.subscribe(queue);
      await client.broker.publish(queue, [message('again')]);
      const delivery = await one(subscription);
      expect(delivery.leaseMs).toBeGreaterThan(29_000);
      await subscription.settle([{ delivery, verb: 'retry', delayMs: 50 }]);
      expect((await one(subscription)).deliveries).toBe(2);
    });

    it('consumes a stream and a consumer as they are found', async () => {
      const stream = scene.name();
      const manager = await scene.manager;
      await manager.streams.add({ name: stream, subjects: [`${stream}.*`] });
      await manager.consumers.add(stream, { durable_name: 'worker', ack_policy: 'explicit', max_ack_pending: 7 });
      scene.discard(`${stream}_worker_dlq`);
      const client = await scene.client();
      const queue = `${stream}/worker`;
      const subscription = await client.subscribe(queue);
      expect(subscription.capabilities.inFlightLimit).toBe(7);
      await client.broker.publish(`${stream}.eu`, [message('found', { id: 'evt-1' })]);
      const delivery = await one(subscription);
      await subscription.settle([{ delivery, verb: 'retry', delayMs: 0, notBefore: Date.now() + 60_000 }]);
      const again = await one(subscription);
      // n.b. no copy, which all consumers of the stream would get.
      expect([textOf(again.message.body), again.message.id, again.source.position]).toEqual([
        'found',
        'evt-1',
        `${stream}:1`,
      ]);
      await expect(client.broker.publish(queue, [message('where?')])).rejects.toThrow('several subjects');
    });

    it('asks a consumer for no more than it allows, and asks on', async () => {
      const queue = scene.name();
      const manager = await scene.manager;
      await manager.streams.add({ name: queue, subjects: [queue] });
      const limits = { max_batch: 2, max_expires: 100e6 };
      await manager.consumers.add(queue, { durable_name: queue, ack_policy: 'explicit', ...limits });
      const client = await scene.client();
      const subscription = await client.subscribe(queue, { waitMs: 2_000 });
      const pull = subscription.pull(5, new AbortController().signal);
      await sleep(250);
      await client.broker.publish(queue, [message('late'), message('later'), message('last')]);
      const came = [...(await pull)];
      while (came.length < 3) came.push(await one(subscription));
      expect(came.map(({ message: { body } }) => textOf(body))).toEqual(['late', 'later', 'last']);
    });

    it('keeps two groups of one stream apart, and their letters', async () => {
      const queue = scene.name();
      await (await scene.manager).streams.add({ name: queue, subjects: [queue] });
      scene.discard(`${queue}_billing_dlq`, `${queue}_audit_dlq`);
      const client = await scene.client();
      const groups = ['billing', 'audit'];
      await client.broker.publish(queue, [message('for all')]);
      for (const group of groups) {
        const subscription = await (await scene.client()).subscribe(queue, { group });
        const delivery = await one(subscription);
        await subscription.settle([{ delivery, verb: 'deadLetter', evidence: evidenceOf(queue) }]);
        expect(await lettersOf(server, `${queue}_${group}_dlq`)).toHaveLength(1);
      }
    });

    it('keeps what a producer calls as we call our evidence', async () => {
      const client = await scene.client();
      const queue = await scene.queue();
      const subscription = await client.subscribe(queue);
      await client.broker.publish(queue, [message('poison', { headers: [['x-error', 'theirs']] })]);
      const delivery = await one(subscription);
      await subscription.settle([{ delivery, verb: 'deadLetter', evidence: evidenceOf(queue) }]);
      const [letter] = await lettersOf(server, `${queue}_dlq`);
      expect(letter!.message.headers.filter(([name]) => name === 'x-error')).toEqual([
        ['x-error', 'theirs'],
        ['x-error', 'it is poison'],
      ]);
    });

    it.each([
      ['pushes', { deliver_subject: 'somewhere', ack_policy: 'explicit' as const }],
      ['acknowledges nothing', { ack_policy: 'none' as const }],
    ])('refuses a consumer that %s', async (_, config) => {
      const queue = scene.name();
      const manager = await scene.manager;
      await manager.streams.add({ name: queue, subjects: [queue] });
      await manager.consumers.add(queue, { durable_name: queue, ...config });
      const client = await scene.client();
      await expect(client.subscribe(queue)).rejects.toMatchObject({ code: 'LZ1132' });
      expect((await client.broker.provision(queue, {})).steps).toContainEqual(
        expect.objectContaining({ action: 'conflict' }),
      );
    });

    it('refuses to consume a stream that would deliver its dead letters again', async () => {
      const queue = scene.name();
      await (await scene.manager).streams.add({ name: queue, subjects: [`${queue}`, `${queue}.>`] });
      const client = await scene.client();
      await expect(client.subscribe(queue)).rejects.toThrow('a dead letter would be delivered again');
    });

    it('gives back what it asked for and nobody pulls', async () => {
      const client = await scene.client();
      const queue = await scene.queue('800ms');
      const subscription = await client.subscribe(queue);
      await client.broker.publish(queue, [message('first')]);
      await subscription.pull(5, new AbortController().signal);
      await client.broker.publish(queue, [message('second')]);
      await sleep(20);
      const other = await (await scene.client()).subscribe(queue, { waitMs: 500 });
      expect(textOf((await one(other)).message.body)).toBe('second');
    });

    it('keeps its leases over a cut connection, and settles when it is back', async () => {
      const client = await scene.client();
      const queue = await scene.queue('10s');
      const subscription = await client.subscribe(queue, { waitMs: 3_000 });
      await client.broker.publish(queue, [message('kept'), message('next')]);
      const delivery = await one(subscription);
      await subscription.settle([{ delivery: await one(subscription), verb: 'ack' }]);
      const pull = subscription.pull(1, new AbortController().signal);
      client.detour.cut();
      await (await scene.client()).broker.publish(queue, [message('after')]);
      expect((await pull).map(({ message: { body } }) => textOf(body))).toEqual(['after']);
      expect(client.lost).toEqual([]);
      expect(await subscription.settle([{ delivery, verb: 'ack' }])).toEqual(['done']);
    });

    it('answers a settle that nobody heard with an error, and does it when it is asked again', async () => {
      const client = await scene.client({ answerTimeout: '300ms' });
      const queue = await scene.queue('10s');
      const subscription = await client.subscribe(queue);
      await client.broker.publish(queue, [message('poison'), message('done')]);
      const [first, second] = [await one(subscription), await one(subscription)];
      const batch = [
        { delivery: first, verb: 'deadLetter', evidence: evidenceOf(queue) },
        { delivery: second, verb: 'ack' },
      ] as const;
      client.detour.deafen(true);
      for (const result of await subscription.settle(batch)) expect(result).toBeInstanceOf(Error);
      client.detour.cut();
      client.detour.deafen(false);
      await expect.poll(() => subscription.settle(batch), { timeout: 5_000, interval: 100 }).toEqual(['done', 'done']);
      expect(await lettersOf(server, `${queue}_dlq`)).toHaveLength(1);
    });
  }),
);

function evidenceOf(queue: string) {
  return {
    reason: 'poison',
    queue,
    attempts: 1,
    strikes: 0,
    firstSeenAt: 1,
    deadAt: 2,
    fingerprint: 'v1:1',
    why: 'it is poison',
  } as const;
}
