import type { Checker } from '../referee.ts';

/** M1: what the server confirmed ends in an effect or in a letter. */
export const losses: Checker = {
  invariant: 'M1',
  over({ ledger, letters }, tell) {
    for (const life of ledger.lives) {
      const { sends, effects, runs } = life;
      const copies = letters(life);
      const isSkipped = runs.some(({ end }) => end?.how === 'skipped');
      const isConfirmed = sends.some(({ answer }) => answer === 'done');
      if (isConfirmed && effects.length === 0 && copies === 0 && !isSkipped) {
        tell('a confirmed message ends in an effect or a letter', `${life.id} has neither`, life);
      }
      const isStored = sends.some(({ answer }) => answer !== 'not stored');
      if (!isStored && life.handOuts.length > 0) {
        tell('a message that was not stored is not handed out', `${life.id} was`, life);
      }
    }
  },
};
