import { optionError, shown } from '../../core/option-error.ts';
import type { ConsumerInfo, JetStreamManager, StreamInfo } from './client.ts';
import { API, apiCodeOf, requestError } from './refusals.ts';

/** Where a queue's messages, its consumer and its letters are. */
export interface Place {
  readonly queue: string;
  /** What it is published to; `undefined` where the name says a stream that has no subject of one meaning. */
  readonly subject: string | undefined;
  readonly stream: string;
  readonly consumer: string;
  readonly letters: string;
  /** The stream takes more than this queue. */
  readonly isShared: boolean;
  /** It has one consumer for each message, and what is acknowledged is gone. */
  readonly isWorkQueue: boolean;
}

/** 'orders' is a subject, and the stream that takes it; 'ORDERS/worker' a stream and a durable consumer that are there. */
const NAME = /^[^\s*>/\\\0]+(?:\/[^\s*>/\\\0.]+)?$/;
const EMPTY_WORD = /^\.|\.\.|\.$/;

export function checkName(queue: string): void {
  if (NAME.test(queue) && !EMPTY_WORD.test(queue)) return;
  const todo = "Use a name without spaces, '*' and '>', like 'orders' or 'shop.orders', or 'STREAM/consumer'.";
  throw optionError('LZ1003', 'queue', `${shown(queue)} is no subject of NATS.`, todo);
}

/** Streams and consumers have no dots in their names. */
export function nameOf(subject: string): string {
  return subject.replaceAll('.', '_');
}

/** How a queue was subscribed to. */
export interface Names {
  readonly group?: string | undefined;
  readonly deadLetter?: string | undefined;
}

export function deadLetterSubject(queue: string, { group, deadLetter }: Names): string {
  const consumed = group === undefined ? queue.replace('/', '.') : `${queue}.${group}`;
  return deadLetter ?? `${consumed}.dlq`;
}

/** `undefined` where no stream takes it. */
export async function locate(manager: JetStreamManager, queue: string, names: Names = {}): Promise<Place | undefined> {
  checkName(queue);
  const letters = deadLetterSubject(queue, names);
  const [name = '', consumer] = queue.split('/');
  const stream = consumer === undefined ? ((await streamOf(manager, queue)) ?? queue) : name;
  if (stream.includes('.')) return undefined;
  const config = await configOf(manager, stream);
  if (config === undefined) return undefined;
  const { subjects = [], retention } = config;
  const [only] = subjects.length === 1 && !/[*>]/.test(subjects[0]!) ? subjects : [undefined];
  const subject = consumer === undefined && stream !== queue ? queue : subjects.includes(queue) ? queue : only;
  return {
    queue,
    subject,
    stream,
    consumer: consumer ?? nameOf(names.group ?? queue),
    letters,
    isShared: only === undefined,
    isWorkQueue: retention === 'workqueue',
  };
}

/** The stream that takes `subject`. */
export async function streamOf(manager: JetStreamManager, subject: string): Promise<string | undefined> {
  const names = manager.streams.names(subject);
  try {
    const [first] = await names.next();
    return first;
  } catch (error) {
    throw requestError(error, `looking for the stream of '${subject}'`);
  }
}

async function configOf(manager: JetStreamManager, stream: string): Promise<StreamInfo['config'] | undefined> {
  try {
    return (await manager.streams.info(stream)).config;
  } catch (error) {
    if (apiCodeOf(error) === API.streamNotFound) return undefined;
    throw requestError(error, `looking at stream '${stream}'`);
  }
}

export async function consumerOf(
  manager: JetStreamManager,
  { stream, consumer }: Place,
): Promise<ConsumerInfo | undefined> {
  try {
    return await manager.consumers.info(stream, consumer);
  } catch (error) {
    if (apiCodeOf(error) === API.consumerNotFound || apiCodeOf(error) === API.streamNotFound) return undefined;
    throw requestError(error, `looking at consumer '${consumer}' of stream '${stream}'`);
  }
}

/** In milliseconds. n.b. where a consumer has a list of waits, its first lease is the first of them. */
export function leaseOf({ config }: ConsumerInfo): number {
  return Math.min(config.ack_wait ?? 30e9, ...(config.backoff ?? [])) / 1e6;
}

/** What one request may ask for. */
export function mostOf({ config }: ConsumerInfo): { readonly messages: number; readonly ms: number } {
  return {
    messages: config.max_batch || Number.POSITIVE_INFINITY,
    ms: (config.max_expires || Number.POSITIVE_INFINITY) / 1e6,
  };
}

/** Why a consumer that is there cannot be pulled from; `undefined` where it can. */
export function unfitness({ config }: ConsumerInfo): string | undefined {
  if (config.deliver_subject !== undefined && config.deliver_subject !== '') return 'it pushes, and is not pulled from';
  if (config.ack_policy !== 'explicit') return `its ack policy is '${config.ack_policy}', not 'explicit'`;
  return undefined;
}

export function inFlightLimitOf({ config }: ConsumerInfo): number | undefined {
  return (config.max_ack_pending ?? -1) > 0 ? config.max_ack_pending : undefined;
}
