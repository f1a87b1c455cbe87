import type { ProvisionPlan, ProvisionStep, QueueWanted } from '../../ports/broker.ts';
import type { JetStreamManager } from './client.ts';
import type { NatsSettings } from './options.ts';
import { requestError } from './refusals.ts';
import {
  checkName,
  consumerOf,
  deadLetterSubject,
  leaseOf,
  locate,
  nameOf,
  type Place,
  streamOf,
  unfitness,
} from './topology.ts';

type Effect = () => Promise<unknown>;

interface Planned {
  readonly step: ProvisionStep;
  readonly effect?: Effect;
}

/** What a queue of ours consists of; what exists and differs is a conflict, and never changed. */
export async function planFor(
  manager: JetStreamManager,
  settings: NatsSettings,
  queue: string,
  wanted: QueueWanted & { readonly group?: string | undefined },
): Promise<ProvisionPlan> {
  const planned = await surveyed(manager, settings, queue, wanted);
  return {
    steps: planned.map(({ step }) => step),
    async apply() {
      for (const { step, effect } of planned) {
        await effect?.().catch((error: unknown) => {
          throw requestError(error, `creating ${step.what}`);
        });
      }
    },
  };
}

async function surveyed(
  manager: JetStreamManager,
  settings: NatsSettings,
  queue: string,
  { deadLetter, group, ordered }: QueueWanted & { readonly group?: string | undefined },
): Promise<readonly Planned[]> {
  checkName(queue);
  const found = await locate(manager, queue, { group, deadLetter });
  const place = found ?? placeOfOurs(queue, group, deadLetter);
  return [
    ...(found === undefined ? [newStream(manager, settings, queue, 'work')] : []),
    ...(await consumerSteps(manager, settings, place, found !== undefined)),
    ...(await letterSteps(manager, settings, place)),
    ...(ordered === true ? [{ step: UNORDERED }] : []),
  ];
}

function placeOfOurs(queue: string, group: string | undefined, deadLetter: string | undefined): Place {
  const letters = deadLetterSubject(queue, { group, deadLetter });
  return {
    queue,
    subject: queue,
    stream: nameOf(queue),
    consumer: nameOf(group ?? queue),
    letters,
    isShared: false,
    isWorkQueue: true,
  };
}

/** The stream of the letters and the consumer, as `subscribe` needs them. */
export async function helperSteps(
  manager: JetStreamManager,
  settings: NatsSettings,
  place: Place,
): Promise<readonly Planned[]> {
  return [...(await consumerSteps(manager, settings, place, true)), ...(await letterSteps(manager, settings, place))];
}

function newStream(
  manager: JetStreamManager,
  settings: NatsSettings,
  subject: string,
  why: 'work' | 'letters',
): Planned {
  const name = nameOf(subject);
  return {
    step: {
      action: 'create',
      what: `stream '${name}' of subject '${subject}'`,
      why: why === 'work' ? 'the queue itself' : 'its dead letters',
    },
    effect: () =>
      manager.streams.add({
        name,
        subjects: [subject],
        retention: 'workqueue',
        storage: 'file',
        num_replicas: settings.replicas,
        duplicate_window: settings.dedupeWindowMs * 1e6,
      }),
  };
}

async function consumerSteps(
  manager: JetStreamManager,
  settings: NatsSettings,
  place: Place,
  hasStream: boolean,
): Promise<readonly Planned[]> {
  const { stream, consumer, subject, isShared } = place;
  const what = `consumer '${consumer}' of stream '${stream}'`;
  const found = hasStream ? await consumerOf(manager, place) : undefined;
  if (found === undefined) {
    const effect: Effect = () =>
      manager.consumers.add(stream, {
        durable_name: consumer,
        ack_policy: 'explicit',
        ack_wait: settings.ackWaitMs * 1e6,
        // n.b. who counts is the policy; what a server gives up stays in the stream, and nobody sees it any more.
        max_deliver: -1,
        max_ack_pending: -1,
        ...(isShared && subject !== undefined ? { filter_subject: subject } : {}),
      });
    return [{ step: { action: 'create', what, why: 'a durable pull consumer with explicit acks' }, effect }];
  }
  const problem = unfitness(found);
  if (problem !== undefined) return [{ step: { action: 'conflict', what, why: problem } }];
  const leaseMs = leaseOf(found);
  if (leaseMs === settings.ackWaitMs) return [];
  const why = `its lease is ${leaseMs} ms, not ${settings.ackWaitMs} ms`;
  return [{ step: { action: 'conflict', what, why } }];
}

async function letterSteps(
  manager: JetStreamManager,
  settings: NatsSettings,
  { stream, letters }: Place,
): Promise<readonly Planned[]> {
  checkName(letters);
  const found = await streamOf(manager, letters);
  if (found === undefined) return [newStream(manager, settings, letters, 'letters')];
  if (found !== stream) return [];
  const why = `stream '${stream}', which is consumed, takes it too: a dead letter would be delivered again`;
  return [{ step: { action: 'conflict', what: `subject '${letters}'`, why } }];
}

const UNORDERED: ProvisionStep = {
  action: 'unsupported',
  what: 'order by key',
  why: 'a consumer leases messages of one key to several processes at once, and a retry comes back behind its successors',
};
