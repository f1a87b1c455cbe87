import type { HandOut } from '../ledger.ts';
import type { Checker } from '../referee.ts';

const DEATHS_AT_MOST = 4;
const DEATHS_ALONE = 2;

/** M7: a message that kills its process does so four times at most; nobody else is convicted. */
export const crashVerdicts: Checker = {
  invariant: 'M7',
  over({ ledger }, tell) {
    for (const life of ledger.lives) {
      const stored = life.sends.filter(({ answer }) => answer !== 'not stored').length;
      // A failure clears the strikes, so that the count begins anew.
      const charged = life.runs.filter(({ end, abandonedAt }) => end?.how === 'failed' || abandonedAt !== undefined);
      const mayKill = DEATHS_AT_MOST * stored * (1 + charged.length);
      if (life.deaths > mayKill) {
        tell('a message kills four processes at most', `${life.id} killed ${life.deaths}`, life);
      }
      if (!life.letters.some(({ reason }) => reason === 'crash')) continue;
      const lostAlone = life.handOuts.filter(isLostAlone).length;
      if (lostAlone >= DEATHS_ALONE) continue;
      const what = `${life.id} is convicted after ${lostAlone} deaths alone`;
      tell('a crash is convicted by two deaths alone', what, life);
    }
  },
};

/** It was in the hands of somebody who ran nothing else, and who vanished. */
function isLostAlone({ alone, begunAlone, isUncertain, end }: HandOut): boolean {
  if (!alone && !begunAlone) return false;
  return isUncertain || end?.how === 'died' || end?.how === 'lost' || end?.how === 'left';
}
