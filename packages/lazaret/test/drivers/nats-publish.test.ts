import { headers } from '@nats-io/transport-node';
import { afterEach, describe, expect, it } from 'vitest';
import type { HeaderList } from '../../src/core/message.ts';
import { message, one, Scene, textOf } from './nats/scene.ts';
import { onNats } from './nats/server.ts';

await onNats('publishing', (server) =>
  describe('a publisher to NATS', () => {
    const scene = new Scene(server);
    afterEach(() => scene.end());

    it('says where no stream takes a message', async () => {
      const { broker } = await scene.client();
      expect(await broker.publish('lz-test-nowhere', [message('a'), message('b')])).toEqual([
        'unroutable',
        'unroutable',
      ]);
    });

    it.each([
      ['holds as many messages as it may', { max_msgs: 1 }],
      ['holds as many bytes as it may', { max_bytes: 200 }],
      ['takes no message so large', { max_msg_size: 100 }],
    ])('says what a stream refuses that %s', async (_, limits) => {
      const queue = scene.name();
      const manager = await scene.manager;
      await manager.streams.add({ name: queue, subjects: [queue], discard: 'new', ...limits });
      const { broker } = await scene.client();
      const [, second] = await broker.publish(queue, [message('small'), message('x'.repeat(150))]);
      expect(second).toBe('refused');
    });

    it('says which message is too large for NATS, and stores its neighbours', async () => {
      const queue = await scene.queue();
      const { broker } = await scene.client();
      const [before, large, wide, after] = await broker.publish(queue, [
        message('before'),
        message('x'.repeat(1024 * 1024 + 1)),
        message('wide', { headers: [['wide', 'x'.repeat(100_000)]] }),
        message('after'),
      ]);
      expect([before, after]).toEqual(['done', 'done']);
      expect(large).toMatchObject({ code: 'LZ1119' });
      expect(wide).toMatchObject({ code: 'LZ1119' });
      expect((await (await scene.manager).streams.info(queue)).state.messages).toBe(2);
    });

    it('does not know whether a message arrived whose answer was lost', async () => {
      const queue = await scene.queue();
      const { broker, detour } = await scene.client({ answerTimeout: '200ms' });
      detour.deafen(true);
      expect(await broker.publish(queue, [message('who knows')])).toEqual(['unknown']);
      detour.deafen(false);
    });

    it('refuses a delay, an exchange and a name that is no subject', async () => {
      const { broker } = await scene.client();
      await expect(broker.publish('a', [message('a')], { delayMs: 5 })).rejects.toMatchObject({ code: 'LZ1004' });
      const exchange = { exchange: 'orders', routingKey: 'eu' };
      await expect(broker.publish(exchange, [message('a')])).rejects.toMatchObject({ code: 'LZ1004' });
      for (const name of ['', 'a b', 'a.*', '>', '.a', 'a..b']) {
        await expect(broker.publish(name, [message('a')])).rejects.toMatchObject({ code: 'LZ1003' });
      }
    });

    it('carries headers of any characters, and lets none of them act on the server', async () => {
      const queue = await scene.queue();
      const client = await scene.client();
      const hostile: HeaderList = [
        ['Nats-Rollup', 'all'],
        ['nats-expected-last-sequence', '77'],
        ['Nats-Msg-Id', 'not the id'],
        ['lazaret-encoded', 'not.one.of.ours'],
        ['line\r\nInjected: yes', 'a\r\nInjected: yes\r\n\r\nbody'],
        ['', 'no name'],
        ['with: colon', ' spaces around '],
        ['__proto__', 'a'],
        ['nul', 'a\u0000b'],
      ];
      const sent = message('sent', { headers: hostile, id: 'evt-1' });
      expect(await client.broker.publish(queue, [message('stays'), sent, sent])).toEqual(['done', 'done', 'done']);
      const subscription = await client.subscribe(queue);
      expect(textOf((await one(subscription)).message.body)).toBe('stays');
      const { message: arrived } = await one(subscription);
      expect(arrived.id).toBe('evt-1');
      expect(arrived.headers.filter(([name]) => name !== 'lazaret-id')).toEqual(expect.arrayContaining([...hostile]));
      expect(arrived.headers).toHaveLength(hostile.length + 1);
    });

    it('takes the id of other clients for its own, and stream and sequence where there is none', async () => {
      const queue = await scene.queue();
      const other = await server.connection();
      const named = headers();
      named.append('Nats-Msg-Id', 'theirs');
      other.publish(queue, 'named', { headers: named });
      other.publish(queue, 'anonymous');
      await other.flush();
      const subscription = await (await scene.client()).subscribe(queue);
      const ids = [(await one(subscription)).message.id, (await one(subscription)).message.id];
      expect(ids).toEqual(['theirs', `${queue}:2`]);
    });

    it('publishes thousands at once, and each is confirmed', async () => {
      const queue = await scene.queue();
      const { broker } = await scene.client();
      const results = await broker.publish(
        queue,
        Array.from({ length: 2_500 }, (_, n) => message(`m${n}`, { dedupeId: `d ${n % 2_000}` })),
      );
      expect(new Set(results)).toEqual(new Set(['done']));
      expect((await (await scene.manager).streams.info(queue)).state.messages).toBe(2_000);
    });
  }),
);
