import type { Outcome } from '../core/outcome.ts';
import type { Cancel, System } from '../ports/system.ts';
import type { Context, Keeper } from './context.ts';
import { RunContext } from './context.ts';
import type { Classifier, Performer } from './inline.ts';
import { afterThrow } from './inline.ts';
import { ReceivedMessage } from './received.ts';
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

/** Returns = every message that was not named is acknowledged. Throws = every message that was not named failed, and the next attempt runs them singly. */
export type BatchHandler<T = unknown> = (messages: readonly ReceivedMessage<T>[], ctx: BatchContext) => unknown;

interface Member<T> {
  readonly run: Run;
  readonly message: ReceivedMessage<T>;
  readonly context: Context;
  readonly end: (outcome: Outcome) => void;
}

const DONE: Outcome = Object.freeze({ kind: 'done' });

/** Gathers runs until `size` are there or the first has waited `withinMs`, and performs them in one call. Retried messages run singly. */
export function batched<T>(
  handler: BatchHandler<T>,
  size: { readonly size: number; readonly withinMs: number },
  fail: Classifier,
  system: System,
  schema?: Schema<T>,
): Performer {
  let gathered: Member<T>[] = [];
  let cancel: Cancel | undefined;

  const go = () => {
    cancel?.();
    cancel = undefined;
    const members = gathered.filter(({ run }) => run.performing);
    for (const { run, end } of gathered) if (!run.performing) end(DONE);
    gathered = [];
    if (members.length > 0) void performBatch(handler, members, fail);
  };

  const join = (member: Member<T>) => {
    gathered.push(member);
    if (gathered.length >= size.size) go();
    else cancel ??= system.after(size.withinMs, go);
  };

  return {
    async perform(run: Run, keeper: Keeper): Promise<Outcome> {
      const message = new ReceivedMessage<T>(run.delivery.message);
      try {
        if (schema !== undefined) await validate(schema, message);
      } catch (thrown) {
        return afterThrow(run, thrown, fail);
      }
      return new Promise((end) => {
        const member: Member<T> = { run, message, context: new RunContext(run, keeper), end };
        if (run.delivery.attempt > 1 || run.alone) void performBatch(handler, [member], fail);
        else join(member);
      });
    },
  };
}

async function performBatch<T>(
  handler: BatchHandler<T>,
  members: readonly Member<T>[],
  fail: Classifier,
): Promise<void> {
  const failed = new Map<Run, Outcome>();
  const memberOf = (message: ReceivedMessage): Member<T> => {
    const member = members.find((candidate) => candidate.message === message);
    if (member === undefined) throw new TypeError('this message is not of this batch');
    return member;
  };
  const context: BatchContext = {
    queue: members[0]!.context.queue,
    of: (message) => memberOf(message).context,
    fail: (message, error) => {
      const { run } = memberOf(message);
      failed.set(run, { kind: 'failed', failure: fail(error) });
    },
    get signal() {
      return members.length === 1 ? members[0]!.run.signal : AbortSignal.any(members.map(({ run }) => run.signal));
    },
  };
  let rest: (run: Run) => Outcome = (run) => run.said ?? DONE;
  try {
    await handler(
      members.map(({ message }) => message),
      context,
    );
  } catch (thrown) {
    const named = failed.size > 0;
    rest = (run) => (named ? (run.said ?? DONE) : afterThrow(run, thrown, fail));
  }
  for (const { run, end } of members) end(failed.get(run) ?? rest(run));
}
