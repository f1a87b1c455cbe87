import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SqliteBroker } from '../../src/drivers/sqlite/broker.ts';
import type { Delivery, Settlement, Subscription } from '../../src/ports/broker.ts';
import { bury, evidenceFor, message, one, pull, QUEUE, Scene, subscribe, textOf } from './sqlite-scene.ts';

let scene: Scene;
let broker: SqliteBroker;
let ordered: Subscription;
beforeEach(async () => {
  scene = new Scene();
  broker = await scene.broker();
  ordered = await subscribe(broker, { order: 'key', leaseMs: 1_000 });
});
afterEach(() => scene.end());

const ack = (...deliveries: readonly Delivery[]) =>
  ordered.settle(deliveries.map((delivery): Settlement => ({ delivery, verb: 'ack' })));

/** 'a1' has key 'a'; '-1' has none. */
const send = (...texts: string[]) =>
  broker.publish(
    QUEUE,
    texts.map((text) => message(text, text[0] === '-' ? {} : { key: text[0]! })),
  );
const texts = async (subscription = ordered) => (await pull(subscription)).map(textOf);

describe('a consumer in the order of keys', () => {
  it('gets one message of each key at a time, and all without a key', async () => {
    await send('a1', 'a2', 'b1', '-1', 'a3', '-2', 'b2');
    const first = await pull(ordered);
    expect(first.map(textOf)).toEqual(['a1', 'b1', '-1', '-2']);
    expect(await texts()).toEqual([]);
    await ack(first[0]!);
    const [a2] = await pull(ordered);
    expect(textOf(a2!)).toBe('a2');
    await ack(a2!, first[1]!);
    expect((await texts()).sort()).toEqual(['a3', 'b2']);
  });

  it('waits for an earlier one that is delayed, retried or leased elsewhere', async () => {
    await broker.publish(QUEUE, [message('a1', { key: 'a' })], { delayMs: 500 });
    await send('a2');
    expect(await texts()).toEqual([]);
    await scene.system.advance(500);
    const a1 = await one(ordered);
    await ordered.settle([{ delivery: a1, verb: 'retry', delayMs: 300 }]);
    expect(await texts()).toEqual([]);
    await scene.system.advance(300);
    const elsewhere = await subscribe(await scene.broker(), { order: 'key' });
    expect(await texts(elsewhere)).toEqual(['a1']);
    expect(await texts()).toEqual([]);
  });

  it('waits for a suspect of its key', async () => {
    await send('a1', 'a2');
    for (let starts = 0; starts < 2; starts++) {
      await pull(ordered);
      await scene.system.advance(1_000);
    }
    expect(await texts()).toEqual([]);
    const a1 = await ordered.alone!(new AbortController().signal);
    expect(textOf(a1!)).toBe('a1');
    await ack(a1!);
    expect(await texts()).toEqual(['a2']);
  });

  it('gets the successors of a letter marked as blocked, until the letter is released', async () => {
    await send('a1', 'a2', 'a3', 'b1');
    const [a1, b1] = await pull(ordered);
    await bury(ordered, a1!, scene.system.now());
    const [a2] = await pull(ordered);
    expect(a2).toMatchObject({ blocked: true });
    expect(b1).not.toHaveProperty('blocked');
    await ordered.settle([{ delivery: a2!, verb: 'release', delayMs: 0 }]);
    await broker.letters.release(['1']);
    const again = await one(ordered);
    expect(textOf(again)).toBe('a1');
    expect(await texts()).toEqual([]);
    await ack(again);
    expect(await one(ordered)).not.toHaveProperty('blocked');
  });

  it('is told that a released letter waits behind an older one', async () => {
    await send('a1', 'a2');
    await bury(ordered, await one(ordered), scene.system.now());
    await bury(ordered, await one(ordered), scene.system.now());
    expect(await broker.letters.release(['2', '1'])).toEqual([
      { id: '2', result: 'released', behind: '1' },
      { id: '1', result: 'released' },
    ]);
    const first = await one(ordered);
    expect(textOf(first)).toBe('a1');
    await bury(ordered, first, scene.system.now());
    const second = await one(ordered);
    expect(second).toMatchObject({ blocked: true });
    await bury(ordered, second, scene.system.now());
    await broker.letters.release(['1']);
    const again = await one(ordered);
    expect(again).not.toHaveProperty('blocked');
    await ack(again);
    await broker.letters.release(['2']);
    expect(textOf(await one(ordered))).toBe('a2');
  });

  it('loses nothing to consumers without order, before or beside it', async () => {
    const careless = await subscribe(broker);
    await send('a1', 'a2', 'a3', 'a4');
    const [a1] = await pull(ordered);
    const [a2, ...rest] = await pull(careless, 2);
    expect([a2, ...rest].map((delivery) => textOf(delivery!))).toEqual(['a2', 'a3']);
    await careless.settle([a1!, a2!, ...rest].map((delivery) => ({ delivery, verb: 'ack' })));
    const later = await subscribe(broker, { order: 'key' });
    expect(await texts(later)).toEqual(['a4']);
  });

  it('gets on behind a long row of one key', async () => {
    await send(...Array.from({ length: 2_000 }, (_, i) => `a${i}`), 'b0');
    const seen: string[] = [];
    for (let pulls = 0; !seen.includes('b0') && pulls < 20; pulls++) seen.push(...(await texts()));
    expect(seen).toEqual(['a0', 'b0']);
    expect(await broker.inspect(QUEUE)).toMatchObject({ ready: 1_999, leased: 2, delayed: 0 });
  });

  it('waits for the rest of a long row without keeping the loop from its turns', async () => {
    const patient = await subscribe(broker, { order: 'key', waitMs: 1_000 });
    await send(...Array.from({ length: 1_000 }, (_, i) => `a${i}`), 'b0');
    await one(patient);
    let turns = 0;
    let counting = true;
    const count = () => {
      turns++;
      if (counting) scene.system.turn(count);
    };
    scene.system.turn(count);
    const [b0] = await pull(patient);
    counting = false;
    expect(textOf(b0!)).toBe('b0');
    expect(turns).toBeGreaterThan(1);
  });

  it('takes no lease of an earlier hand-out for its own after it was set aside', async () => {
    await send('a1');
    await bury(ordered, await one(ordered), scene.system.now());
    await send('a2');
    const a2 = await one(ordered);
    await scene.system.advance(1_000);
    await broker.letters.release(['1']);
    expect(await texts()).toEqual(['a1']);
    expect(await ack(a2)).toEqual(['lost']);
  });
});

it('hands out each key in the order of publishing, whatever becomes of its messages', async () => {
  const outcome = fc.constantFrom('ack', 'retry', 'release', 'expire', 'bury');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'c', '-'), { minLength: 1, maxLength: 12 }),
      fc.array(outcome, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 5 }),
      async (keys, outcomes, max) => {
        const queue = `q${scene.system.id()}`;
        await broker.publish(
          queue,
          keys.map((key, i) => message(`${i}`, key === '-' ? {} : { key })),
        );
        const subscription = await broker.subscribe(queue, {
          prefetch: 10,
          leaseMs: 1_000,
          waitMs: 0,
          order: 'key',
          maxAttempts: 9,
          lost: () => {},
          suspects: () => {},
        });
        const gone: string[] = [];
        for (let turn = 0; gone.length < keys.length && turn < 400; turn++) {
          const alone = await subscription.alone!(new AbortController().signal);
          const pulled = [...(await pull(subscription, max)), ...(alone === undefined ? [] : [alone])];
          for (const delivery of pulled) {
            const { key } = delivery.message;
            const earlier = keys.findIndex((other, i) => other === key && !gone.includes(String(i)));
            if (key !== undefined) expect(textOf(delivery)).toBe(String(earlier));
            const as = turn < 200 ? outcomes[turn % outcomes.length]! : 'ack';
            if (as === 'expire') continue;
            if (as === 'ack' || as === 'bury') gone.push(textOf(delivery));
            const settlement: Settlement =
              as === 'bury'
                ? { delivery, verb: 'deadLetter', evidence: evidenceFor(delivery, scene.system.now()) }
                : as === 'ack'
                  ? { delivery, verb: 'ack' }
                  : { delivery, verb: as, delayMs: turn % 3 };
            expect(await subscription.settle([settlement])).toEqual(['done']);
          }
          if (pulled.length === 0) await scene.system.advance(500);
        }
        expect(gone).toHaveLength(keys.length);
        await subscription.close();
      },
    ),
    { numRuns: 15 },
  );
});
