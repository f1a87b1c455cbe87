import type { Batch } from '../core/batch-options.ts';
import { LazaretError } from '../core/errors.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Cancel, System } from '../ports/system.ts';
import { type Caller, Calls } from './calls.ts';
import type { Context, Timekeeper } from './context.ts';
import { RunContext } from './context.ts';
import type { Classifier, Performer } from './inline.ts';
import { afterThrow } from './inline.ts';
import type { ReceivedMessage } from './received.ts';
import { Incoming } from './received.ts';
import type { Run } from './run.ts';
import type { Schema } from './schema.ts';
import { validate } from './schema.ts';

/** What a batch handler gets beside its messages. */
export interface BatchContext {
  readonly queue: string;
  /** The context of one message of this batch, to name its outcome or read its attempt. */
  of(message: ReceivedMessage): Context;
  /** This message failed with `error`, the others not; classified like a thrown error. */
  fail(message: ReceivedMessage, error: unknown): void;
  /** Aborts when the first message of the batch is lost, late, or the app stops. */
  readonly signal: AbortSignal;
}

/**
 * Returns = every message that was not named is acknowledged. Throws = every message that was not named failed, and the next attempt
 * runs them singly.
 */
export type BatchHandler<T = unknown> = (messages: readonly ReceivedMessage<T>[], ctx: BatchContext) => unknown;

/** How batches are filled, and how many calls run at once. */
export interface BatchSetup extends Batch {
  readonly concurrency: number;
}

export interface BatchPerformer extends Performer {
  /** The consumer stops: what is gathered is called now, and what would have to wait for a call is given back. */
  hurry(): void;
}

interface Member<T> extends Caller {
  readonly message: ReceivedMessage<T>;
  readonly context: Context;
}

const DONE: Outcome = Object.freeze({ kind: 'done' });

/** Gathers runs until `size` are there or the first has waited `withinMs`, and performs them in one call. Retried messages run singly. */
export function batched<T>(
  handler: BatchHandler<T>,
  { size, withinMs, concurrency }: BatchSetup,
  fail: Classifier,
  system: System,
  schema?: Schema<T>,
): BatchPerformer {
  const calls = new Calls<Member<T>>(concurrency, (members) => performBatch(handler, members, fail), system);
  let gathered: Member<T>[] = [];
  let cancel: Cancel | undefined;
  let stopping = false;

  const callGathered = () => {
    cancel?.();
    cancel = undefined;
    const members = gathered;
    gathered = [];
    calls.add(members);
  };

  const join = (member: Member<T>) => {
    member.keeper.waits(member.run);
    gathered.push(member);
    if (gathered.length >= size || stopping) callGathered();
    else cancel ??= system.after(withinMs, callGathered);
  };

  return {
    async perform(run: Run, keeper: Timekeeper): Promise<Outcome> {
      const message = new Incoming<T>(run.delivery.message);
      try {
        if (schema !== undefined) await validate(schema, message);
      } catch (thrown) {
        return afterThrow(run, thrown, fail);
      }
      return new Promise((end) => {
        const context = new RunContext(run, keeper);
        const member: Member<T> = { run, keeper, episode: run.episode!, message, context, end };
        if (run.delivery.attempt > 1 || run.alone) calls.add([member]);
        else join(member);
      });
    },
    hurry() {
      stopping = true;
      callGathered();
      calls.close();
    },
  };
}

async function performBatch<T>(
  handler: BatchHandler<T>,
  members: readonly Member<T>[],
  fail: Classifier,
): Promise<void> {
  const failed = new Map<Run, Outcome>();
  let rest = (run: Run): Outcome => run.said ?? DONE;
  try {
    await handler(
      members.map(({ message }) => message),
      batchContext(members, (run, error) => failed.set(run, { kind: 'failed', failure: fail(error) })),
    );
  } catch (thrown) {
    rest = (run) => afterThrow(run, thrown, fail);
  }
  for (const { run, end } of members) end(failed.get(run) ?? rest(run));
}

function batchContext<T>(members: readonly Member<T>[], fail: (run: Run, error: unknown) => void): BatchContext {
  const byMessage = new Map<ReceivedMessage, Member<T>>(members.map((member) => [member.message, member]));
  const memberOf = (message: ReceivedMessage): Member<T> => {
    const member = byMessage.get(message);
    if (member !== undefined) return member;
    throw new LazaretError('LZ1204', 'this message is not of this batch.', {
      hint: 'Hand in one of the messages that the handler was called with.',
    });
  };
  let signal: AbortSignal | undefined;
  return {
    queue: members[0]!.context.queue,
    of: (message) => memberOf(message).context,
    fail: (message, error) => fail(memberOf(message).run, error),
    /** Made when a handler first asks, and the same from then on. */
    get signal() {
      signal ??= AbortSignal.any(members.map(({ episode }) => episode.signal));
      return signal;
    },
  };
}
