import type { OrderReport } from '../../operations/order-report.ts';
import type { View } from '../view.ts';
import { leftCell, maybeCell } from './cells.ts';

/** How what was set by hand is confirmed. `undo` says the words of the command that comes next. */
export function orderView(
  next: (queue: string, dependency: string | undefined) => readonly string[],
): View<OrderReport> {
  return {
    document: 'order@1',
    show: ({ queue, dependency, untilAt, by, why, effects }, { now }) => ({
      parts: [
        {
          kind: 'fields',
          fields: [
            ['queue', queue],
            ...(dependency === undefined ? [] : ([['dependency', dependency]] as const)),
            ['ends in', leftCell(untilAt, now)],
            ['set by', maybeCell(by)],
            ['why', why],
          ],
        },
      ],
      notes: effects,
      next: ['lazaret', ...next(queue, dependency)],
    }),
  };
}

export function toAutomatic(queue: string, dependency: string | undefined): readonly string[] {
  const named = dependency === undefined ? [] : ['--dependency', dependency];
  return ['breaker', 'automatic', queue, ...named, '--why', '…'];
}
