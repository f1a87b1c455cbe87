import type { Failure, Outcome } from '../core/outcome.ts';
import type { Context, Keeper, Timekeeper } from './context.ts';
import { RunContext } from './context.ts';
import { refusedDependency } from './dependency-down.ts';
import { Incoming, type ReceivedMessage } from './received.ts';
import type { Run } from './run.ts';
import type { Schema } from './schema.ts';
import { validate } from './schema.ts';

/** Returns = acknowledged; throws = classified; anything else is said by name on `ctx`. What it returns is ignored. */
export type Handler<T = unknown> = (message: ReceivedMessage<T>, ctx: Context) => unknown;

/** Performs one run and says how it ended. Never rejects. */
export interface Performer<K extends Keeper = Timekeeper> {
  /** Before the queue is subscribed to: rejects where no message could ever be performed. */
  open?(): Promise<void>;
  perform(run: Run, keeper: K): Outcome | Promise<Outcome>;
  /** The consumer stops: begin now with what is waited with. */
  hurry?(): void;
  /** What a handler may still hold when the consumer stops. */
  close?(): Promise<void>;
}

export type Classifier = (thrown: unknown) => Failure;

const DONE: Outcome = Object.freeze({ kind: 'done' });

/** Runs the handler in this process. */
export function inline<T>(handler: Handler<T>, fail: Classifier, schema?: Schema<T>): Performer<Keeper> {
  return {
    async perform(run, keeper) {
      // n.b. one hop away from our own frames: they would fill the stack of every error that the handler makes.
      await undefined;
      try {
        const message = new Incoming<T>(run.delivery.message);
        if (schema !== undefined) await validate(schema, message);
        await handler(message, new RunContext(run, keeper));
        return run.said ?? DONE;
      } catch (thrown) {
        return afterThrow(run, thrown, fail);
      }
    },
  };
}

/** What was said by name stands, but for `skip`: nothing is acknowledged after a throw. */
export function afterThrow(run: Run, thrown: unknown, fail: Classifier): Outcome {
  const { said } = run;
  if (said !== undefined && said.kind !== 'skip') return said;
  return refusedDependency(thrown) ?? { kind: 'failed', failure: fail(thrown) };
}
