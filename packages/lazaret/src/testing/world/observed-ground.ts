import type { Ground } from './handler.ts';
import { isAlone } from './ledger.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { Stage } from './stage.ts';

/** The ground under the handlers of one process: writes down what they do. */
export function observedGround(stage: Stage, process: SimulatedProcess): Ground {
  const { ledger, time, referee, reached } = stage;
  return {
    began(message, ctx) {
      const run = ledger.started(time.now, ledger.handOut(message), ctx);
      const { life } = run.handOut;
      process.note('starts the handler', `attempt ${ctx.attempt}, strikes ${ctx.strikes}`, life.plan.index);
      if (ctx.attempt >= life.queue.maxAttempts) reached.add('an attempt is the last');
      if (isAlone(run)) reached.add('a handler runs alone');
      const beside = [...ledger.active(run.process)].filter(({ handOut }) => handOut.life.queue === life.queue);
      if (beside.length >= life.queue.concurrency) reached.add('all slots of a consumer are taken');
      referee.started(run);
      return run;
    },
    ended(run, how) {
      if (run.end !== undefined) return;
      ledger.ended(run, time.now, how);
      process.note(
        `handler has ${how}`,
        run.abandonedAt === undefined ? undefined : 'but was given up',
        run.handOut.life.plan.index,
      );
      if (how === 'failed') reached.add('a handler fails');
      if (how === 'aborted') reached.add('a handler is aborted');
      if (how !== 'worked') return;
      reached.add(run.abandonedAt === undefined ? 'a handler works' : 'a handler that was given up works after all');
      if (run.strikes >= 2) reached.add('a message works after two strikes');
    },
    extended(run, ms) {
      reached.add('a handler gets more time');
      run.deadlineAt = Math.max(run.deadlineAt, time.now + ms);
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const abort = () => {
          cancel();
          reject(signal!.reason);
        };
        const cancel = process.system.wait(ms, () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        });
        signal?.addEventListener('abort', abort, { once: true });
      }),
    crash({ handOut: { life, end } }) {
      reached.add('a message kills its process');
      // n.b. what was given to somebody else meanwhile is not this one's start any more.
      if (end === undefined) life.deaths++;
      process.note('is killed by its message', undefined, life.plan.index);
      process.end('died');
    },
  };
}
