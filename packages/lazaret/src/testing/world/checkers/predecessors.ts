import type { Checker } from '../referee.ts';

/** M3: an acknowledgement follows what it stands for; and a handler that was given up has no say. */
export const predecessors: Checker = {
  invariant: 'M3',
  started({ handOut: { life, lossToldAt } }, _, tell) {
    if (lossToldAt !== undefined) tell('nothing is started after its loss', `${life.id} is started`, life);
  },
  said(handOut, { verb }, { isStopping }, tell) {
    const { life, runs } = handOut;
    const last = runs.at(-1);
    if (handOut.lossToldAt !== undefined) {
      tell('nothing is settled after its loss', `${life.id} is settled, ${verb}, although its loss was told`, life);
    }
    if (verb === 'ack') {
      const isDone = last?.end?.how === 'worked' || last?.end?.how === 'skipped';
      if (handOut.isLeftover) return;
      if (!isDone) tell('an ack follows a success', `${life.id} is acked without one`, life);
      else if (last.abandonedAt !== undefined) {
        tell('a handler that was given up settles nothing', `${life.id} is acked for one`, life);
      }
    }
    if (verb === 'release' && !isStopping && last?.end?.how === 'worked' && last.abandonedAt === undefined) {
      tell('a success is acknowledged', `${life.id} worked and is given back`, life);
    }
    if (verb === 'retry') {
      const isFailed = last?.end?.how === 'failed' || last?.end?.how === 'aborted' || last?.abandonedAt !== undefined;
      if (!isFailed) tell('a retry follows a failure', `${life.id} is retried without one`, life);
    }
  },
};
