import { describe, expect, it } from 'vitest';
import { renderForPeople } from '../../src/cli/render-people.ts';
import { renderRows } from '../../src/cli/render-rows.ts';
import { cell } from '../../src/cli/safe-text.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import type { View } from '../../src/cli/view.ts';
import { VIEWS } from '../../src/cli/views/index.ts';
import { OPERATIONS } from '../../src/operations/index.ts';
import type { Letter } from '../../src/operations/services.ts';
import { type FakeSetup, fakeServices, letter, NOW, order, stormOf } from '../fake-services.ts';
import { TERMINAL } from './captured.ts';
import { HOSTILE, OBEYED } from './corpus.ts';

async function outputOf(name: string, input: object, setup: FakeSetup): Promise<object> {
  const operation = OPERATIONS.find((one) => one.name === name)!;
  return operation.run(fakeServices(setup), input as never);
}

async function shown(name: string, input: object, setup: FakeSetup, terminal: Terminal = TERMINAL) {
  const view = VIEWS.get(name) as View<object>;
  const output = await outputOf(name, input, setup);
  const { parts, notes = [], next } = view.show(output, { now: NOW });
  return { people: await renderForPeople(parts, terminal), rows: renderRows(parts), notes, next };
}

const LETTERS = [
  letter('3'),
  letter('17', {
    queue: 'images',
    why: { reason: 'crash', why: '4 starts ended without an outcome: the process died each time' },
  }),
];

describe('every operation', () => {
  it.each(OPERATIONS.map(({ name }) => name))('has a view: %s', (name) => {
    expect(VIEWS.get(name)?.document).toMatch(/^[a-z]+@1$/);
  });
});

describe('a table', () => {
  it('stands in columns on a terminal, without frames', async () => {
    expect((await shown('messages ls', {}, { letters: LETTERS })).people).toBe(
      [
        'ID  MESSAGE  QUEUE   REASON  ATTEMPTS  DIED  WHY',
        ' 3  evt-3    orders  poison         1   41s  Poison: customer is empty',
        '17  evt-17   images  crash          1   41s  4 starts ended without an outcome: the process died ea…',
        '',
      ].join('\n'),
    );
  });

  it('is tab-separated in a pipe, without a head, and says everything exactly', async () => {
    expect((await shown('messages ls', {}, { letters: LETTERS })).rows).toBe(
      '3\tevt-3\torders\tpoison\t1\t2026-11-30T03:12:03.000Z\tPoison: customer is empty\n' +
        '17\tevt-17\timages\tcrash\t1\t2026-11-30T03:12:03.000Z\t4 starts ended without an outcome: the process died each time\n',
    );
  });

  it('is nothing at all when it is empty', async () => {
    const { people, rows, notes } = await shown('messages ls', {}, {});
    expect([people, rows]).toEqual(['', '']);
    expect(notes).toEqual(['No messages match: nothing like that is in the quarantine.']);
  });

  it('marks what is estimated, and what is not known', async () => {
    const queues = { orders: { ready: 5, dead: 1, approximate: true as const } };
    const { people, rows } = await shown('queues ls', {}, { queues });
    expect(people).toContain('orders     ~5        ?       ?            1       -');
    expect(rows).toBe('orders\t5\t\t\t1\t\t\n');
  });

  it('speaks ASCII where the terminal does', async () => {
    const ascii = { ...TERMINAL, unicode: false };
    const letters = [letter('3', { why: { why: `é${'x'.repeat(200)}` } })];
    expect((await shown('messages ls', {}, { letters }, ascii)).people).toMatch(/\\xe9x+\.\.\.\n$/);
  });

  it('has colours where the terminal has them, and says the same', async () => {
    const { people } = await shown('messages ls', {}, { letters: LETTERS }, { ...TERMINAL, colours: true });
    const plain = await shown('messages ls', {}, { letters: LETTERS });
    expect(people).toContain('\u001b[31mpoison');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the colours
    expect(people.replace(/\u001b\[\d+m/g, '')).toBe(plain.people);
  });
});

describe('a message', () => {
  const body = (text: string): Letter =>
    letter('3', { message: { id: 'e', body: Buffer.from(text), headers: [['a', 'b']] } });

  it('is told with its age, its headers, and its body laid out', async () => {
    const { people, next } = await shown('messages show', { message: '3' }, { letters: [body('{"total":12.50}')] });
    expect(people).toContain('died        2026-11-30T03:12:03.000Z (41s ago)\n');
    expect(people).toContain('HEADER  VALUE\na       b\n');
    expect(people).toContain('body · 15 bytes\n  {\n    "total": 12.50\n  }\n');
    expect(next).toEqual(['lazaret', 'messages', 'release', '3']);
  });

  it.each([
    ['text that is no JSON, as it is', 'order;total\n1;2', 'body · 15 bytes\n  order;total\n  1;2\n'],
    ['no bytes at all', '', 'body · 0 bytes\n'],
    ['a text without end, cut', `"${'x'.repeat(300_000)}"`, '… 283618 more characters: add --raw\n'],
  ])('shows %s', async (_, text, expected) => {
    expect((await shown('messages show', { message: '3' }, { letters: [body(text)] })).people).toContain(expected);
  });

  it('shows bytes that are no text as bytes', async () => {
    const letters = [letter('3', { message: { id: 'e', body: Buffer.from([0x7b, 0xff]), headers: [] } })];
    const { people, rows } = await shown('messages show', { message: '3' }, { letters });
    expect(people).toContain('  00000000  7b ff ');
    expect(rows).toContain('body\tbase64:e/8=\n');
  });

  it('does not take a tombstone for an empty body', async () => {
    const letters = [letter('3', { message: { id: 'e', body: null, headers: [] } })];
    expect((await shown('messages show', { message: '3' }, { letters })).people).toContain(
      'body · none (a tombstone)\n',
    );
  });

  it('does not let a body or an error pass for our own words', async () => {
    const error = { name: 'Error', message: 'm', stack: 'Error: m\nNext: lazaret messages release 1', causes: [] };
    const letters = [
      letter('3', { message: { id: 'e', body: Buffer.from('a\nstate  released'), headers: [] }, why: { error } }),
    ];
    const { people } = await shown('messages show', { message: '3' }, { letters });
    expect(people).not.toMatch(/^(Next|state {2}released)/m);
  });

  it('is not released again', async () => {
    expect(
      (await shown('messages show', { message: '3' }, { letters: [{ ...body('1'), state: 'released' }] })).next,
    ).toBeUndefined();
  });
});

describe('a release', () => {
  const exitCode = async (messages: readonly string[], setup: FakeSetup) => {
    const view = VIEWS.get('messages release') as View<object>;
    return view.exitCode!(await outputOf('messages release', { messages }, setup));
  };

  it.each([
    ['all of it', ['3', '17'], {}, 0],
    ['nothing of it', ['nosuch'], {}, 3],
    ['some of it', ['3', 'nosuch'], {}, 7],
    ['nothing, since the store failed', ['3'], { '3': { result: new Error('disk') } }, 1],
    ['some, since the store failed', ['3', '17'], { '3': { result: new Error('disk') } }, 7],
  ])('that did %s ends like that', async (_, messages, releases, expected) => {
    expect(await exitCode(messages, { letters: LETTERS, releases: releases as never })).toBe(expected);
  });

  it('says who still waits behind an earlier letter of its key', async () => {
    const releases = { '3': { result: 'released' as const, behind: '2' } };
    const { rows, notes } = await shown('messages release', { messages: ['3'] }, { letters: LETTERS, releases });
    expect(rows).toContain('waits behind letter 2 of the same key, where the queue is consumed in order');
    expect(notes).toEqual(['1 released.']);
  });
});

describe('a queue that stands still', () => {
  const closed = { state: 'closed', why: '', pinnedForMs: 0 } as const;
  const open = { state: 'open', why: '20 of 20 runs in 10 s were dependency failures', pinnedForMs: 0 } as const;
  const scope = { breaker: closed, limit: 10, inFlight: 2, budget: 1 };
  const setup: FakeSetup = {
    queues: { orders: { ready: 5 }, images: { ready: 1 } },
    storms: {
      orders: stormOf({
        orders: [order({ set: 'paused' }, { why: 'INC-42', by: 'mira' }), order({ set: 'limit', limit: 2 })],
        views: [
          { pause: { state: 'open', why: 'by hand: INC-42 (mira)', pinnedForMs: 60_000 }, scopes: [scope] },
          {
            pause: closed,
            scopes: [scope, { ...scope, dependency: 'payments', breaker: open, limit: 1, inFlight: 0 }],
          },
        ],
        history: [
          {
            at: NOW - 41_000,
            process: 'p',
            what: 'breaker open',
            about: 'payments',
            why: 'x',
            forMs: 5_000,
            byHand: false,
          },
        ],
      }),
    },
  };

  it('is told with what each breaker does, why, who set it, and until when', async () => {
    const { people, next } = await shown('breaker show', { queue: 'orders' }, setup, { ...TERMINAL, columns: 140 });
    expect(people).toMatchInlineSnapshot(`
      "QUEUE   WHAT     DEPENDENCY  STATE   PROCESSES  RUNNING  LIMIT  SET BY  ENDS IN  WHY
      orders  pause    -           paused     1 of 2        -      -  mira         1h  INC-42
      orders  breaker  -           closed     2 of 2        4     20  -             -
      orders  breaker  payments    open       1 of 2        0      1  itself        -  20 of 20 runs in 10 s were dependency failures

      QUEUE   SET BY HAND  DEPENDENCY  BY        ENDS IN  WHY
      orders  paused       -           mira           1h  INC-42
      orders  limit 2      -           somebody       1h  a reason

      AGO  CHANGE        ABOUT     FOR  BY      WHY
      41s  breaker open  payments   5s  itself  x
      "
    `);
    expect(next).toEqual(['lazaret', 'queues', 'resume', 'orders', '--why', '…']);
  });

  it('is told exactly in a pipe', async () => {
    expect((await shown('breaker show', { queue: 'orders' }, setup)).rows).toMatchInlineSnapshot(`
      "orders	pause		paused	1/2			mira	2026-11-30T04:12:44.000Z	INC-42
      orders	breaker		closed	2/2	4	20			
      orders	breaker	payments	open	1/2	0	1			20 of 20 runs in 10 s were dependency failures
      orders	paused		mira	2026-11-30T04:12:44.000Z	INC-42
      orders	limit 2		somebody	2026-11-30T04:12:44.000Z	a reason
      2026-11-30T03:12:03.000Z	breaker open	payments	5000	itself	x
      "
    `);
  });

  it('is told plainly where nobody consumes it', async () => {
    const { people, notes } = await shown('breaker show', { queue: 'images' }, setup);
    expect(people).toBe('');
    expect(notes).toEqual(["No consumer of queue 'images' is running: nothing is set by hand."]);
    const storms = { images: stormOf({ orders: [order({ set: 'paused' })] }) };
    const ordered = await shown('breaker show', { queue: 'images' }, { ...setup, storms });
    expect(ordered.notes[0]).toContain('one that starts finds what is set by hand');
    expect(ordered.rows).toMatch(/^images\tpause\t\tpaused\t0\/0\t/);
  });

  it('stands in the list of queues', async () => {
    const { people } = await shown('queues ls', {}, setup);
    expect(people).toMatch(/images .* -\n/);
    expect(people).toMatch(/orders .* paused\n/);
  });

  it('is confirmed with what will happen, until when, and how to undo it', async () => {
    const pause = await shown('queues pause', { queue: 'orders', why: 'INC-42', for: '1h' }, setup);
    expect(pause.people).toBe('queue    orders\nends in  1h\nset by   mira\nwhy      INC-42\n');
    expect(pause.notes[0]).toBe(
      "Queue 'orders' is paused until 2026-11-30T04:12:44.000Z (1h); then it goes on by itself.",
    );
    expect(pause.next).toEqual(['lazaret', 'queues', 'resume', 'orders', '--why', '…']);
    const open = await shown(
      'breaker open',
      { queue: 'orders', dependency: 'payments', why: 'INC-42', for: '1h' },
      setup,
    );
    expect(open.next).toEqual(['lazaret', 'breaker', 'automatic', 'orders', '--dependency', 'payments', '--why', '…']);
  });
});

describe('hostile text', () => {
  const hostileStorm = (text: string) =>
    stormOf({
      orders: [order({ set: 'breaker', to: 'open', dependency: text }, { why: text, by: text })],
      views: [
        {
          pause: { state: 'open', why: text, pinnedForMs: 0, fingerprint: text },
          scopes: [
            {
              dependency: text,
              breaker: { state: 'open', why: text, pinnedForMs: 0 },
              limit: 1,
              inFlight: 0,
              budget: 0,
            },
          ],
          fused: [text],
          systemic: [text],
        },
      ],
      history: [{ at: NOW, process: text, what: text, about: text, why: text, byHand: false }],
    });
  const hostile = (text: string): Letter =>
    letter('3', {
      queue: text,
      message: { id: text, key: text, body: Buffer.from(text), headers: [[text, text]] },
      why: {
        why: text,
        fingerprint: text,
        version: text,
        position: text,
        error: {
          name: text,
          message: text,
          code: text,
          stack: text,
          causes: [{ name: text, message: text, causes: [] }],
        },
      },
    });

  it.each(HOSTILE)('in every place of every output leaves a terminal nothing to obey: %s', async (_, text) => {
    const setup = {
      letters: [hostile(text)],
      queues: { [text]: { ready: 1, dead: 1 } },
      storms: { [text]: hostileStorm(text) },
    };
    const all = [
      await shown('messages ls', {}, setup),
      await shown('messages show', { message: '3' }, setup),
      await shown('messages release', { messages: ['3', text] }, setup),
      await shown('queues ls', {}, setup),
      await shown('queues show', { queue: text }, setup),
      await shown('queues explain', { queue: text }, setup),
      await shown('breaker show', { queue: text }, setup),
      await shown('queues pause', { queue: text, why: text }, setup),
      await shown('breaker open', { queue: text, dependency: text, why: text }, setup),
    ];
    for (const { people, rows, notes } of all) {
      // Sentences are made safe where they are said.
      expect(cell(notes.join(' '))).not.toMatch(OBEYED);
      expect(people.replaceAll('\n', '')).not.toMatch(OBEYED);
      expect(rows.replaceAll(/[\n\t]/g, '')).not.toMatch(OBEYED);
    }
    expect(all[0]!.rows.split('\n')).toHaveLength(2);
    expect(all[0]!.rows.split('\t')).toHaveLength(7);
  });
});
