import type { Explanation } from '../../operations/queues-explain.ts';
import type { View } from '../view.ts';

export const queuesExplainView: View<Explanation> = {
  document: 'timetable@1',
  show: ({ chain, sentences }) => ({ parts: [{ kind: 'block', text: [chain, ...sentences].join('\n') }] }),
};
