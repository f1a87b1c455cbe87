import type { QueueDetail } from '../../operations/queues-show.ts';
import type { View } from '../view.ts';
import { ageCell, countCell } from './cells.ts';

export const queuesShowView: View<QueueDetail> = {
  document: 'queue@1',
  show({ queue, ready, delayed, leased, quarantined, oldestAt, approximate, causes, complete }, { now }) {
    return {
      parts: [
        {
          kind: 'fields',
          fields: [
            ['queue', queue],
            ['ready', countCell(ready, approximate)],
            ['delayed', countCell(delayed, approximate)],
            ['leased', countCell(leased, approximate)],
            ['quarantined', countCell(quarantined, false)],
            ['oldest', ageCell(oldestAt, now)],
          ],
        },
        {
          kind: 'table',
          columns: [
            { title: 'QUARANTINED', align: 'right' },
            { title: 'REASON', style: 'bad' },
            { title: 'CAUSE', style: 'faint' },
            { title: 'EXAMPLE' },
            { title: 'WHY', wide: true },
          ],
          rows: causes.map(({ count, reason, fingerprint, example, why }) => [
            count,
            reason,
            fingerprint,
            example,
            why,
          ]),
        },
      ],
      ...(complete ? {} : { notes: ['Only the oldest letters were grouped.'] }),
      next:
        causes.length === 0 ? ['lazaret', 'queues', 'explain', queue] : ['lazaret', 'messages', 'ls', '--queue', queue],
    };
  },
};
