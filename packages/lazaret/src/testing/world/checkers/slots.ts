import { isAlone } from '../ledger.ts';
import type { Checker } from '../referee.ts';

/** M6: not more handlers than a consumer may run, one per key where order is kept, and nothing beside a suspect. */
export const slots: Checker = {
  invariant: 'M6',
  started(run, { ledger }, tell) {
    const { life, process } = run.handOut;
    const { queue } = life;
    const heard = [...ledger.active(process)].filter(({ abandonedAt }) => abandonedAt === undefined);
    const here = heard.filter(({ handOut }) => handOut.life.queue === queue);
    const limit = queue.concurrency * (queue.batch?.size ?? 1);
    if (here.length > limit) tell('a consumer runs at most as many as it may', `${here.length} of ${limit} run`, life);

    const suspect = heard.find(isAlone);
    if (suspect !== undefined && heard.length > 1) {
      const others = heard.filter((other) => other !== suspect).map(({ handOut }) => handOut.life.id);
      const what = `${suspect.handOut.life.id} runs in ${process} beside ${others.join(', ')}`;
      tell('a suspect runs alone', what, life);
    }

    // n.b. what was lost on its way starts beside its next run.
    if (queue.ordering !== 'key' || run.handOut.end !== undefined) return;
    for (const other of ledger.lives) {
      if (other === life || other.queue !== queue || other.plan.key !== life.plan.key) continue;
      const beside = other.runs.find(
        ({ end, abandonedAt, handOut }) =>
          end === undefined && abandonedAt === undefined && handOut.end?.how !== 'lost',
      );
      if (beside === undefined) continue;
      tell('one message per key runs at a time', `${life.id} starts beside ${other.id}`, life);
    }
  },
};
