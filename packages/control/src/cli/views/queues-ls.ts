import type { QueueList } from '../../operations/queues-ls.ts';
import type { View } from '../view.ts';
import { ageCell, countCell, stateCell } from './cells.ts';

export const queuesLsView: View<QueueList> = {
  document: 'queues@1',
  show({ queues }, { now }) {
    const worst = [...queues].sort((a, b) => (b.quarantined ?? 0) - (a.quarantined ?? 0))[0];
    return {
      parts: [
        {
          kind: 'table',
          columns: [
            { title: 'QUEUE', style: 'strong' },
            { title: 'READY', align: 'right' },
            { title: 'DELAYED', align: 'right' },
            { title: 'LEASED', align: 'right' },
            { title: 'QUARANTINED', align: 'right' },
            { title: 'OLDEST', align: 'right', style: 'faint' },
            { title: 'STATE' },
          ],
          rows: queues.map(({ queue, ready, delayed, leased, quarantined, oldestAt, approximate, state }) => [
            queue,
            countCell(ready, approximate),
            countCell(delayed, approximate),
            countCell(leased, approximate),
            countCell(quarantined, false),
            ageCell(oldestAt, now),
            stateCell(state),
          ]),
        },
      ],
      ...(queues.length === 0 ? { notes: ['No queues: no message was ever sent into this file.'] } : {}),
      ...(worst?.quarantined ? { next: ['lazaret', 'queues', 'show', worst.queue] } : {}),
    };
  },
};
