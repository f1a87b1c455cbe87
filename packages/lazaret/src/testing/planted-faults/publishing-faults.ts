import type { OutgoingMessage, PublishResult } from '../../ports/broker.ts';
import type { PlantedFault } from '../planted-faults.ts';
import { bound, publishing, without } from './planting.ts';

/** What can go wrong on the way into a queue. */
export const PUBLISHING_FAULTS: readonly PlantedFault[] = [
  {
    name: 'the key is forgotten',
    shape: 'log',
    caughtBy: ['keeps an id and a key, also over a retry'],
    plant: publishing((message) => without(message, 'key')),
  },
  {
    name: 'a delay is ignored when publishing',
    shape: 'channel',
    caughtBy: ['brings what was published with a delay after it, never early'],
    plant: (broker) => ({ ...bound(broker), publish: (to, messages) => broker.publish(to, messages) }),
  },
  {
    name: 'a dedupe id is ignored',
    shape: 'table',
    caughtBy: ['stores nothing twice under one dedupe id, and answers done'],
    plant: publishing((message) => without(message, 'dedupeId')),
  },
  {
    name: 'one message that cannot be stored fails the whole call',
    shape: 'table',
    caughtBy: ['answers each message of a batch, also where one cannot be stored'],
    plant: (broker) => ({
      ...bound(broker),
      async publish(to, messages, options) {
        const results = await broker.publish(to, messages, options);
        const failed = results.find((result) => result !== 'done');
        return failed === undefined ? results : results.map((): PublishResult => failed);
      },
    }),
  },
  {
    name: 'a batch ends after 100 messages',
    shape: 'table',
    caughtBy: ['delivers each message of a large batch once'],
    plant: (broker) => ({
      ...bound(broker),
      async publish(to, messages, options) {
        await broker.publish(to, messages.slice(0, 100), options);
        return messages.map((): PublishResult => 'done');
      },
    }),
  },
  {
    name: 'a message is confirmed before it is stored',
    shape: 'channel',
    caughtBy: ['has stored what it confirmed when the publisher dies right after'],
    plant: (broker, system) => ({
      ...bound(broker),
      async publish(to, messages, options) {
        system.after(1, () => void broker.publish(to, messages, options).catch(() => undefined));
        return messages.map((): PublishResult => 'done');
      },
    }),
  },
  {
    name: 'an empty batch is an error',
    shape: 'table',
    caughtBy: ['has nothing to say to an empty batch of messages'],
    plant: (broker) => ({
      ...bound(broker),
      publish: (to, messages, options) =>
        messages.length === 0 ? Promise.reject(new Error('empty batch')) : broker.publish(to, messages, options),
    }),
  },
  {
    name: 'a dedupe id counts in all queues',
    shape: 'table',
    caughtBy: ['keeps dedupe ids of two queues apart'],
    plant: (broker) => {
      const seen = new Set<string>();
      const isNew = ({ dedupeId }: OutgoingMessage) =>
        dedupeId === undefined || seen.size === seen.add(dedupeId).size - 1;
      return {
        ...bound(broker),
        async publish(to, messages, options) {
          await broker.publish(to, messages.filter(isNew), options);
          return messages.map((): PublishResult => 'done');
        },
      };
    },
  },
  {
    name: 'messages without a key have one in common',
    shape: 'table',
    caughtBy: ['lets messages without a key pass each other'],
    plant: publishing((message) => ({ key: '', ...message })),
  },
];
