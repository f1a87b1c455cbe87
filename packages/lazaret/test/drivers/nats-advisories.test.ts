import { jetstream } from '@nats-io/jetstream';
import { afterEach, describe, expect, it } from 'vitest';
import { lettersOf } from './nats/harness.ts';
import { message, one, Scene, textOf } from './nats/scene.ts';
import { onNats } from './nats/server.ts';

await onNats('advisories', (server) =>
  describe('what other consumers of a NATS stream gave up', () => {
    const scene = new Scene(server);
    afterEach(() => scene.end());

    /** A stream that keeps what is acknowledged, with a consumer of somebody else. */
    async function shared(config: object): Promise<string> {
      const queue = scene.name();
      const manager = await scene.manager;
      await manager.streams.add({ name: queue, subjects: [queue] });
      await manager.consumers.add(queue, { durable_name: 'theirs', ack_policy: 'explicit', ...config });
      return queue;
    }

    const theirs = async (queue: string) => jetstream(await server.connection()).consumers.get(queue, 'theirs');

    it('becomes a letter with its payload when the server gives it up', async () => {
      const queue = await shared({ max_deliver: 2, ack_wait: 100e6 });
      const client = await scene.client();
      await client.subscribe(queue);
      await client.broker.publish(queue, [message('unlucky', { id: 'evt-1', headers: [['tenant', 'acme']] })]);
      const consumer = await theirs(queue);
      for (let n = 0; n < 2; n++) await consumer.next({ expires: 1_000 });
      const stopAsking = consumer.next({ expires: 1_000 });
      await expect.poll(() => lettersOf(server, `${queue}_dlq`), { timeout: 5_000 }).toHaveLength(1);
      await stopAsking;
      const [letter] = await lettersOf(server, `${queue}_dlq`);
      expect([textOf(letter!.message.body), letter!.message.id]).toEqual(['unlucky', 'evt-1']);
      expect(letter!.message.headers).toContainEqual(['tenant', 'acme']);
      expect(letter!.evidence).toMatchObject({ reason: 'exhausted', queue: `${queue}/theirs`, attempts: 2 });
    });

    it('becomes one letter when it is terminated, however many listen', async () => {
      const queue = await shared({});
      const client = await scene.client();
      await client.subscribe(queue);
      await (await scene.client()).subscribe(queue);
      await client.broker.publish(queue, [message('ended')]);
      (await (await theirs(queue)).next())!.term();
      await expect.poll(() => lettersOf(server, `${queue}_dlq`), { timeout: 5_000 }).toHaveLength(1);
      const [letter] = await lettersOf(server, `${queue}_dlq`);
      expect(textOf(letter!.message.body)).toBe('ended');
      expect(letter!.evidence).toMatchObject({ reason: 'manual' });
      expect(letter!.evidence!.why).toContain("consumer 'theirs' terminated it");
    });

    it('leaves a pointer where the stream let go of its payload first', async () => {
      const queue = await scene.queue();
      const client = await scene.client();
      const subscription = await client.subscribe(queue);
      await client.broker.publish(queue, [message('gone')]);
      const { receipt } = await one(subscription);
      (await server.connection()).publish((receipt as { readonly ackTo: string }).ackTo, '+TERM');
      await expect.poll(() => lettersOf(server, `${queue}_dlq`), { timeout: 5_000 }).toHaveLength(1);
      const [letter] = await lettersOf(server, `${queue}_dlq`);
      expect(letter!.message.id).toBe(`${queue}:1`);
      expect(letter!.evidence!.why).toContain('its payload was gone');
    });

    it('does not make a second letter of a dead letter of ours', async () => {
      const queue = await scene.queue();
      const client = await scene.client();
      const subscription = await client.subscribe(queue);
      await client.broker.publish(queue, [message('poison')]);
      const delivery = await one(subscription);
      const evidence = {
        reason: 'poison',
        queue,
        attempts: 1,
        strikes: 0,
        firstSeenAt: 1,
        deadAt: 2,
        fingerprint: 'v1:1',
        why: 'it is poison',
      } as const;
      expect(await subscription.settle([{ delivery, verb: 'deadLetter', evidence }])).toEqual(['done']);
      await subscription.pull(1, new AbortController().signal);
      expect(await lettersOf(server, `${queue}_dlq`)).toHaveLength(1);
      expect((await (await scene.manager).streams.info(queue)).state.messages).toBe(0);
    });
  }),
);
