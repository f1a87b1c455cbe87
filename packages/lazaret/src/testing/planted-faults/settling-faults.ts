import { HEADER } from '../../core/headers.ts';
import type { HeaderList } from '../../core/message.ts';
import type { SettleResult } from '../../ports/broker.ts';
import type { PlantedFault } from '../planted-faults.ts';
import { changing, each, settling, withDelay, without } from './planting.ts';

/** What can go wrong on the way back to the broker. */
export const SETTLING_FAULTS: readonly PlantedFault[] = [
  {
    name: 'an ack is answered, and not done',
    shape: 'table',
    caughtBy: ['forgets what was acknowledged', 'has acknowledged before the end of close what it said it had'],
    plant: settling((settle, batch) =>
      each(batch, settle, (settlement) => (settlement.verb === 'ack' ? 'done' : undefined)),
    ),
  },
  {
    name: 'a late settle is answered as done',
    shape: 'table',
    caughtBy: ['refuses a settle that comes too late, and disturbs no new owner'],
    plant: settling(async (settle, batch) =>
      (await settle(batch)).map((result) => (result === 'lost' ? 'done' : result)),
    ),
  },
  {
    name: 'a release is charged',
    shape: 'table',
    caughtBy: ['spends no attempt on what is given back'],
    plant: settling((settle, batch) =>
      settle(
        batch.map((settlement) => (settlement.verb === 'release' ? { ...settlement, verb: 'retry' } : settlement)),
      ),
    ),
  },
  {
    name: 'a release counts as a strike',
    shape: 'table',
    caughtBy: ['counts no strike for what was given back'],
    plant: settling((settle, batch) =>
      each(batch, settle, (settlement) => (settlement.verb === 'release' ? 'done' : undefined)),
    ),
  },
  {
    name: 'a retry comes back early',
    shape: 'table',
    caughtBy: ['brings a retry after 0.5 leases, never early', 'brings a retry after 1.5 leases, never early'],
    plant: settling((settle, batch) => settle(batch.map((settlement) => withDelay(settlement, (ms) => ms * 0.9)))),
  },
  {
    name: 'a delay beyond 2^31 ms is none',
    shape: 'table',
    caughtBy: ['takes the longest delay that it promises, and does not bring it at once'],
    plant: settling((settle, batch) =>
      settle(batch.map((settlement) => withDelay(settlement, (ms) => (ms > 2 ** 31 ? 1 : ms)))),
    ),
  },
  {
    name: 'the time before which a staged message is not due gets lost',
    shape: 'channel',
    caughtBy: [
      'carries the time before which a staged retry is not due',
      'carries the time before which a staged release is not due',
    ],
    plant: settling((settle, batch) =>
      settle(
        batch.map((settlement) =>
          settlement.verb === 'retry' || settlement.verb === 'release' ? without(settlement, 'notBefore') : settlement,
        ),
      ),
    ),
  },
  {
    name: 'one failure fails its whole batch',
    shape: 'table',
    caughtBy: ['harms no neighbour when one of a batch was settled before', 'answers a batch in its order'],
    plant: settling(async (settle, batch) => {
      const results = await settle(batch);
      return results.every((result) => result === 'done') ? results : results.map(() => new Error('batch failed'));
    }),
  },
  {
    name: 'results come in another order',
    shape: 'table',
    caughtBy: ['answers a batch in its order'],
    plant: settling(async (settle, batch) => [...(await settle(batch))].reverse()),
  },
  {
    name: 'a dead letter is acknowledged, and not written',
    shape: 'channel',
    caughtBy: ['moves a dead letter out of the queue, where its evidence can be read'],
    plant: settling((settle, batch) =>
      settle(
        batch.map(({ delivery, ...rest }) =>
          rest.verb === 'deadLetter' ? { delivery, verb: 'ack' } : { delivery, ...rest },
        ),
      ),
    ),
  },
  {
    name: 'a dead letter is written, and its message stays',
    shape: 'table',
    caughtBy: ['moves a dead letter out of the queue, where its evidence can be read'],
    plant: (broker, system) =>
      settling((settle, batch) =>
        each(batch, settle, (settlement) => {
          if (settlement.verb !== 'deadLetter') return undefined;
          const { delivery, evidence } = settlement;
          const headers: HeaderList = [...delivery.message.headers, [HEADER.evidence, JSON.stringify(evidence)]];
          void broker.publish(`${delivery.source.queue}.dlq`, [{ ...delivery.message, headers }]);
          return 'done';
        }),
      )(broker, system),
  },
  {
    name: 'the message of a dead letter has no id',
    shape: 'log',
    caughtBy: ['gives a dead letter an id where its message had none'],
    plant: (broker, system) =>
      settling((settle, batch) =>
        Promise.all(
          batch.map(async (settlement): Promise<SettleResult> => {
            const { delivery, verb } = settlement;
            if (verb !== 'deadLetter' || delivery.message.id !== undefined) return (await settle([settlement]))[0]!;
            await broker.publish(`${delivery.source.queue}.dlq`, [delivery.message]);
            return (await settle([{ delivery, verb: 'ack' }]))[0]!;
          }),
        ),
      )(broker, system),
  },
  {
    name: 'an extension is answered, and not done',
    shape: 'table',
    caughtBy: ['counts an extension from now'],
    plant: changing(() => ({ extend: async (batch) => batch.map(() => 'done') })),
  },
  {
    name: 'extensions add up',
    shape: 'table',
    caughtBy: ['does not add extensions up'],
    plant: changing((subscription) => {
      let addedMs = 0;
      return {
        extend: (batch) =>
          subscription.extend(
            batch.map(({ delivery, leaseMs }) => {
              addedMs += leaseMs;
              return { delivery, leaseMs: addedMs };
            }),
          ),
      };
    }),
  },
  {
    name: 'what is given back keeps its start',
    shape: 'log',
    caughtBy: ['forgets a start that was given back', 'gives back at once what is released without a delay'],
    plant: settling((settle, batch) =>
      each(batch, settle, (settlement) => (settlement.verb === 'release' ? 'done' : undefined)),
    ),
  },
  {
    name: 'a charge is forgotten when the message is held',
    shape: 'log',
    caughtBy: ['remembers a failure that was charged while the message was held'],
    plant: settling((settle, batch) =>
      settle(batch.map((settlement) => (settlement.verb === 'hold' ? { ...settlement, charged: false } : settlement))),
    ),
  },
  {
    name: 'a held message is given back',
    shape: 'table',
    caughtBy: ['keeps what is held for us, and settles it afterwards'],
    plant: settling((settle, batch) =>
      settle(batch.map((settlement) => (settlement.verb === 'hold' ? { ...settlement, verb: 'release' } : settlement))),
    ),
  },
  {
    name: 'a retry is written although its message was settled before',
    shape: 'channel',
    caughtBy: ['gives a retry that is asked for twice no second effect'],
    plant: (broker, system) =>
      settling((settle, batch) =>
        Promise.all(
          batch.map(async (settlement): Promise<SettleResult> => {
            const [result] = await settle([settlement]);
            const { message, source } = settlement.delivery;
            if (result === 'lost' && settlement.verb === 'retry') await broker.publish(source.queue, [message]);
            return result!;
          }),
        ),
      )(broker, system),
  },
  {
    name: 'an empty batch of settlements is an error',
    shape: 'table',
    caughtBy: ['has nothing to say to an empty batch'],
    plant: settling((settle, batch) => (batch.length === 0 ? Promise.reject(new Error('empty batch')) : settle(batch))),
  },
  {
    name: 'delays wait for each other in one line',
    shape: 'channel',
    caughtBy: ['lets others pass what is delayed'],
    plant: (broker, system) => {
      let longestMs = 0;
      const inLine = (delayMs: number) => {
        longestMs = Math.max(longestMs, delayMs);
        return longestMs;
      };
      return settling((settle, batch) => settle(batch.map((settlement) => withDelay(settlement, inLine))))(
        broker,
        system,
      );
    },
  },
  {
    name: 'a release ends no lease that was extended',
    shape: 'table',
    caughtBy: ['ends a lease with the settlement, not with the heartbeat before it'],
    plant: changing((subscription) => {
      const extended = new Set<unknown>();
      return {
        extend(batch) {
          for (const { delivery } of batch) extended.add(delivery.receipt);
          return subscription.extend(batch);
        },
        settle: (batch) =>
          each(
            batch,
            (rest) => subscription.settle(rest),
            ({ verb, delivery }) => (verb === 'release' && extended.has(delivery.receipt) ? 'done' : undefined),
          ),
      };
    }),
  },
];
