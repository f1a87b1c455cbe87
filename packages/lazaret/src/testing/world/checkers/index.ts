import type { Checker } from '../referee.ts';
import { charges } from './charges.ts';
import { crashVerdicts } from './crash-verdicts.ts';
import { deadlines } from './deadlines.ts';
import { duplicates } from './duplicates.ts';
import { losses } from './losses.ts';
import { notBefore } from './not-before.ts';
import { order } from './order.ts';
import { predecessors } from './predecessors.ts';
import { slots } from './slots.ts';
import { stops } from './stops.ts';

export const CHECKERS: readonly Checker[] = [
  losses,
  duplicates,
  predecessors,
  charges,
  notBefore,
  slots,
  crashVerdicts,
  deadlines,
  stops,
  order,
];
