import type { Life } from '../ledger.ts';
import type { Checker } from '../referee.ts';

/** M2: a message is seen again only where the log of its life holds a loss, a lost answer or a death. */
export const duplicates: Checker = {
  invariant: 'M2',
  over({ ledger, letters }, tell) {
    for (const life of ledger.lives) {
      const { effects } = life;
      const copies = letters(life);
      const seen = effects.length + copies;
      if (seen <= 1 || isExplained(life)) continue;
      tell('a duplicate is explained', `${life.id} has ${effects.length} effects and ${copies} letters`, life);
    }
  },
};

/** n.b. also a handler that was given up and worked after all explains what came of the next run. */
function isExplained({ excuses, sends, runs }: Life): boolean {
  const stored = sends.filter(({ answer }) => answer !== 'not stored').length;
  return excuses.length > 0 || stored > 1 || runs.some(({ abandonedAt }) => abandonedAt !== undefined);
}
