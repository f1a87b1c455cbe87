import type { BreakerList, BreakerRow, OrderRow, QueueBreakers } from '../../operations/breaker-show.ts';
import type { Column, Part, View } from '../view.ts';
import { ageCell, leftCell, maybeCell, wholeSeconds } from './cells.ts';

export const breakerShowView: View<BreakerList> = {
  document: 'breakers@1',
  show({ queues }, { now }) {
    const known = queues.filter(({ breakers, orders }) => breakers.length > 0 || orders.length > 0);
    const [one] = queues.length === 1 ? queues : [];
    return {
      parts: [
        { kind: 'table', columns: STATES, rows: known.flatMap((queue) => stateRows(queue, now)) },
        ...ordersOf(known, now),
        ...(one === undefined ? [] : changesOf(one, now)),
      ],
      notes: queues.flatMap(noteOn),
      ...(one === undefined || one.breakers.length === 0 ? {} : { next: nextOf(one) }),
    };
  },
};

const STATES: readonly Column[] = [
  { title: 'QUEUE', style: 'strong' },
  { title: 'WHAT' },
  { title: 'DEPENDENCY' },
  { title: 'STATE' },
  { title: 'PROCESSES', align: 'right' },
  { title: 'RUNNING', align: 'right' },
  { title: 'LIMIT', align: 'right' },
  { title: 'SET BY' },
  { title: 'ENDS IN', align: 'right' },
  { title: 'WHY', wide: true },
];

function stateRows({ queue, processes, breakers }: QueueBreakers, now: number) {
  return breakers.map(({ of, dependency, state, processes: count, inFlight, limit, by, untilAt, why }) => [
    queue,
    of === 'queue' ? 'pause' : 'breaker',
    maybeCell(dependency),
    of === 'queue' ? PAUSE[state] : state,
    { people: `${count} of ${processes}`, exact: `${count}/${processes}` },
    maybeCell(inFlight),
    maybeCell(limit),
    by ?? (state === 'closed' ? maybeCell(undefined) : { people: 'itself', exact: '' }),
    leftCell(untilAt, now),
    why,
  ]);
}

const PAUSE: Readonly<Record<BreakerRow['state'], string>> = {
  closed: 'running',
  ramping: 'resuming',
  'half-open': 'probing',
  open: 'paused',
};

function ordersOf(queues: readonly QueueBreakers[], now: number): readonly Part[] {
  const rows = queues.flatMap(({ queue, orders }) =>
    orders.map((order) => [
      queue,
      wordOf(order),
      maybeCell(order.dependency),
      order.by,
      leftCell(order.untilAt, now),
      order.why,
    ]),
  );
  if (rows.length === 0) return [];
  return [
    {
      kind: 'table',
      columns: [
        { title: 'QUEUE', style: 'strong' },
        { title: 'SET BY HAND' },
        { title: 'DEPENDENCY' },
        { title: 'BY' },
        { title: 'ENDS IN', align: 'right' },
        { title: 'WHY', wide: true },
      ],
      rows,
    },
  ];
}

function wordOf({ set, to }: OrderRow): string {
  return to === undefined ? set : `${set} ${to}`;
}

function changesOf({ changes }: QueueBreakers, now: number): readonly Part[] {
  if (changes.length === 0) return [];
  return [
    {
      kind: 'table',
      columns: [
        { title: 'AGO', align: 'right', style: 'faint' },
        { title: 'CHANGE' },
        { title: 'ABOUT' },
        { title: 'FOR', align: 'right' },
        { title: 'BY' },
        { title: 'WHY', wide: true },
      ],
      rows: changes.map(({ at, what, about, forMs, byHand, why }) => [
        ageCell(at, now),
        what,
        maybeCell(about),
        forMs === undefined ? maybeCell(undefined) : { people: wholeSeconds(forMs), exact: String(forMs) },
        byHand ? 'hand' : 'itself',
        why,
      ]),
    },
  ];
}

/** n.b. without a consumer nobody knows how a breaker stands: that is no closed breaker. */
function noteOn({ queue, processes, orders, fused, systemic }: QueueBreakers): readonly string[] {
  const notes: string[] = [];
  if (processes === 0) {
    const finds = orders.length === 0 ? 'nothing is set by hand' : 'one that starts finds what is set by hand';
    notes.push(`No consumer of queue '${queue}' is running: ${finds}.`);
  }
  if (fused.length > 0) notes.push(`Queue '${queue}': these go no further into the quarantine: ${fused.join(', ')}`);
  if (systemic.length > 0) notes.push(`Queue '${queue}': these are charged to no message: ${systemic.join(', ')}`);
  return notes;
}

function nextOf({ queue, breakers }: QueueBreakers): readonly string[] {
  const stands = breakers.some(({ of, state }) => of === 'queue' && state !== 'closed');
  return ['lazaret', 'queues', stands ? 'resume' : 'pause', queue, '--why', '…'];
}
