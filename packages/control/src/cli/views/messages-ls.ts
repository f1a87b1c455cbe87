import type { MessageList } from '../../operations/messages-ls.ts';
import type { View } from '../view.ts';
import { ageCell } from './cells.ts';

export const messagesLsView: View<MessageList> = {
  document: 'messages@1',
  show({ messages, next }, { now }) {
    const [first] = messages;
    return {
      parts: [
        {
          kind: 'table',
          columns: [
            { title: 'ID', align: 'right', style: 'strong' },
            { title: 'MESSAGE' },
            { title: 'QUEUE' },
            { title: 'REASON', style: 'bad' },
            { title: 'ATTEMPTS', align: 'right' },
            { title: 'DIED', align: 'right', style: 'faint' },
            { title: 'WHY', wide: true },
          ],
          rows: messages.map(({ id, message = '', queue, reason, attempts, deadAt, why }) => [
            id,
            message,
            queue,
            reason,
            attempts,
            ageCell(deadAt, now),
            why,
          ]),
        },
      ],
      notes: [
        ...(first === undefined ? ['No messages match: nothing like that is in the quarantine.'] : []),
        ...(next === undefined ? [] : [`There are more: add --after ${next}`]),
      ],
      ...(first === undefined ? {} : { next: ['lazaret', 'messages', 'show', first.id] }),
    };
  },
};
