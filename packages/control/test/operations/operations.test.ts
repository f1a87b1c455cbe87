import { isLazaretError } from 'lazaret/core';
import { Check } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../src/operations/index.ts';
import { type Body, bytesOf, type MessageDetail } from '../../src/operations/messages-show.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { type FakeSetup, fakeServices, letter, NOW, order, stormOf } from '../fake-services.ts';

const LETTERS = [
  letter('3'),
  letter('17', {
    queue: 'images',
    why: { reason: 'crash', fingerprint: 'v1:19c0', why: '4 starts', attempts: 0, strikes: 4 },
  }),
  letter('171', { queue: 'images', why: { reason: 'poison' } }),
  letter('4', { message: { id: 'line:4', key: 'customer-7', body: null, headers: [] } }),
];
const QUEUES = {
  orders: { ready: 2, delayed: 1, leased: 0, dead: 2, oldestAt: Date.UTC(2026, 10, 30) },
  images: { dead: 2, approximate: true as const },
};

/** What an operation answers. That it fits its schema is checked each time. */
async function ask(name: string, input: object = {}, setup: FakeSetup = { letters: LETTERS, queues: QUEUES }) {
  const operation = OPERATIONS.find((one) => one.name === name) as Operation;
  const services = fakeServices(setup);
  const output = await operation.run(services, input as never);
  expect(Check(operation.output as never, output), JSON.stringify(output)).toBe(true);
  return { output: output as never as Record<string, unknown>, services };
}

async function refusal(name: string, input: object, setup?: FakeSetup) {
  try {
    await ask(name, input, setup);
  } catch (thrown) {
    if (isLazaretError(thrown)) return { code: thrown.code, message: thrown.message };
    throw thrown;
  }
  throw new Error('nothing was refused');
}

describe('the table of operations', () => {
  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    'describes all of %s',
    (_, operation) => {
      expect(operation.name).toMatch(/^[a-z]+ [a-z-]+$/);
      expect(operation.summary).toMatch(/^[A-Z].*[^.]$/);
      if (operation.subject !== undefined) expect(operation.input.properties).toHaveProperty(operation.subject);
      for (const property of Object.values(operation.input.properties ?? {})) expect(property.description).toBeTruthy();
    },
  );
});

describe('queues ls', () => {
  it('leaves out what a broker cannot know', async () => {
    expect((await ask('queues ls')).output).toEqual({
      queues: [
        {
          queue: 'orders',
          ready: 2,
          delayed: 1,
          leased: 0,
          quarantined: 2,
          oldestAt: '2026-11-30T00:00:00.000Z',
          approximate: false,
        },
        { queue: 'images', quarantined: 2, approximate: true },
      ],
    });
  });
});

describe('queues show', () => {
  it('groups the letters of the queue by cause', async () => {
    const { output } = await ask('queues show', { queue: 'images' });
    expect(output).toMatchObject({
      queue: 'images',
      complete: true,
      causes: [
        { reason: 'crash', fingerprint: 'v1:19c0', count: 1, why: '4 starts', example: 'evt-17' },
        { reason: 'poison', count: 1, example: 'evt-171' },
      ],
    });
  });

  it('says so when there were too many to group', async () => {
    const letters = Array.from({ length: 6_000 }, (_, at) => letter(String(at)));
    const { output } = await ask('queues show', { queue: 'orders' }, { letters, queues: QUEUES });
    expect(output).toMatchObject({ complete: false, causes: [{ count: 5_000 }] });
  });

  it.each([
    ['ordrs', "there is no queue 'ordrs'. Did you mean 'orders'?"],
    ['zzzzzzzz', "there is no queue 'zzzzzzzz'. There are: orders, images."],
  ])('refuses %s, which is none', async (queue, message) => {
    expect(await refusal('queues show', { queue })).toEqual({ code: 'LZ1302', message });
  });

  it('says when there is no queue at all', async () => {
    expect((await refusal('queues show', { queue: 'a' }, { queues: {} })).message).toMatch(/No message was ever sent/);
  });
});

describe('queues explain', () => {
  const explain = async (input: object, setup?: FakeSetup) => {
    const { output } = await ask('queues explain', { queue: 'orders', ...input }, setup);
    return [output.chain, ...(output.sentences as string[])].join('\n');
  };

  it('says what the defaults do, and that they are defaults', async () => {
    expect(await explain({})).toBe(
      [
        'attempt 1 ─ fails ─ wait 2 s (1.6–2.4) ─ attempt 2 ─ wait 8 s (6.4–9.6) ─ attempt 3 ─ wait 30 s (24–36) ─ attempt 4 ─ fails ─ quarantine',
        'worst case to quarantine: 48 s of waiting + 4 × handler (timeout 15 m) = 1 h 48 s',
        'poison (Poison, DecodeError, schema, HTTP 400/410/422, SQLSTATE 22, 23): quarantine on attempt 1',
        'counting: exact (the row keeps its failures) · crashes: exact (after two it runs alone, four convict it)',
        'promise: at least once; a repeat is possible after a crash between the effect and its ack',
        "values from: maxAttempts ← default · backoff ← default · jitter ← default · visibilityTimeout ← default · heartbeat ← default · timeout ← default (a queue does not know its consumers' options: repeat yours as flags)",
      ].join('\n'),
    );
  });

  it.each([
    [{ maxAttempts: 2 }, /attempt 2 ─ fails ─ quarantine/, /maxAttempts ← flag/],
    [{ backoff: '1s,5s' }, /wait 1 s .*wait 5 s .*wait 5 s/, /backoff ← flag/],
    [{ backoff: 'ladder' }, /wait 15 s/, /maxAttempts ← preset ladder · backoff ← preset ladder/],
    [{ jitter: 'none' }, /wait 2 s ─/, /jitter ← flag/],
    [{ timeout: '30s' }, /timeout 30 s/, /timeout ← flag/],
    [{ visibilityTimeout: '20s' }, /wait 2 s/, /visibilityTimeout ← flag/],
    [{ ordering: 'key' }, /keeps its successors waiting/, /promise/],
  ])('says what %o changes', async (input, first, second) => {
    const text = await explain(input);
    expect(text).toMatch(first);
    expect(text).toMatch(second);
  });

  it.each([
    [{ failures: 'journal' as const }, {}, /counting: approximate/],
    [{ failures: 'copy' as const }, {}, /each copy carries its failures/],
    [{ crashEvidence: 'count' as const }, {}, /crashes: suspected/],
    [{ crashEvidence: 'none' as const }, {}, /crashes: not seen/],
    [{ retryKeepsOrder: false }, { ordering: 'key' }, /held by its consumer/],
    [{ order: 'none' as const }, { ordering: 'key' }, /cannot promise it/],
  ])('is honest about a broker with %o', async (capabilities, input, expected) => {
    expect(await explain(input, { queues: QUEUES, capabilities })).toMatch(expected);
  });

  it.each([
    [{ backoff: '2' }, 'LZ1042'],
    [{ backoff: 'ladr' }, 'LZ1050'],
    [{ backoff: '1s,2s,3s,4s' }, 'LZ1004'],
    [{ jitter: 'some' }, 'LZ1002'],
  ])('refuses %o like a consumer would', async (input, code) => {
    expect(await refusal('queues explain', { queue: 'orders', ...input })).toMatchObject({ code });
  });
});

describe('messages ls', () => {
  const ids = async (input: object, setup?: FakeSetup) => {
    const { output } = await ask('messages ls', input, setup);
    return {
      ids: (output.messages as { id: string }[]).map(({ id }) => id),
      complete: output.complete,
      next: output.next,
    };
  };

  it.each([
    [{}, ['3', '17', '171', '4']],
    [{ queue: 'images' }, ['17', '171']],
    [{ reason: 'crash' }, ['17']],
    [{ limit: 2 }, ['3', '17']],
    [{ after: '2' }, ['171', '4']],
  ])('lists what %o asks for', async (input, expected) => {
    expect((await ids(input)).ids).toEqual(expected);
  });

  it('says where to go on', async () => {
    expect(await ids({ limit: 3 })).toMatchObject({ complete: false, next: '3' });
    expect(await ids({ limit: 3, after: '3' })).toMatchObject({ complete: true, ids: ['4'] });
  });

  it('fills the list over pages that come up short', async () => {
    const letters = Array.from({ length: 50 }, (_, at) =>
      letter(String(at), { why: { reason: at % 10 === 0 ? 'crash' : 'poison' } }),
    );
    const listed = await ids({ reason: 'crash', limit: 3 }, { letters, page: 4 });
    expect(listed.ids).toEqual(['0', '10', '20']);
    expect(listed.complete).toBe(false);
  });

  it('tells a queue that is empty from one that does not exist', async () => {
    expect((await ids({ queue: 'orders' }, { queues: QUEUES })).ids).toEqual([]);
    expect(await refusal('messages ls', { queue: 'order' })).toMatchObject({ code: 'LZ1302' });
  });
});

describe('messages show', () => {
  it.each([
    ['the number of a letter', '17', '17'],
    ['the id of a message', 'evt-17', '17'],
    ['a beginning that only one has', 'line', '4'],
  ])('knows a letter by %s', async (_, message, id) => {
    expect((await ask('messages show', { message })).output).toMatchObject({ id });
  });

  it.each([
    ['evt-1', /fits more than one letter. Name one of them by its number: #17 \(evt-17 in images\), #171/],
    ['evt-18', /there is no message 'evt-18' in the quarantine. Did you mean 'evt-17'\?/],
    ['zzzzzzzzzz', /See them with 'lazaret messages ls'/],
    ['', /there is no message ''/],
  ])('refuses %s', async (message, expected) => {
    const refused = await refusal('messages show', { message });
    expect(refused.code).toBe('LZ1303');
    expect(refused.message).toMatch(expected);
  });

  it('guesses neither where a message is called like the number of another letter; #6 is the number', async () => {
    const letters = [letter('5', { message: { id: '6', body: null, headers: [] } }), letter('6')];
    await expect(ask('messages show', { message: '6' }, { letters })).rejects.toMatchObject({ code: 'LZ1303' });
    expect((await ask('messages show', { message: '#6' }, { letters })).output).toMatchObject({ id: '6' });
  });

  it('takes a whole id before a beginning', async () => {
    const letters = [
      letter('1', { message: { id: 'in:33', body: null, headers: [] } }),
      letter('2', { message: { id: 'in:3', body: null, headers: [] } }),
    ];
    expect((await ask('messages show', { message: 'in:3' }, { letters })).output).toMatchObject({ id: '2' });
  });

  it('tells everything that is known', async () => {
    const error = {
      name: 'Poison',
      message: 'm',
      code: 'E1',
      status: 503,
      stack: 's',
      causes: [{ name: 'C', message: 'c', causes: [] }],
    };
    const shown = letter('9', {
      state: 'released',
      occurrence: 2,
      message: {
        id: 'e',
        key: 'k',
        body: Buffer.from('x'),
        headers: [
          ['a', 'b'],
          ['a', Buffer.from([1, 255])],
        ],
      },
      why: { error, version: '1.5.0', position: 'row 9' },
    });
    expect((await ask('messages show', { message: '9' }, { letters: [shown] })).output).toMatchObject({
      state: 'released',
      occurrence: 2,
      key: 'k',
      version: '1.5.0',
      position: 'row 9',
      deadAt: '2026-11-30T03:12:03.000Z',
      error: { name: 'Poison', code: 'E1', status: 503, stack: 's', causes: [{ name: 'C', message: 'c' }] },
      headers: [
        { name: 'a', value: 'b' },
        { name: 'a', base64: 'Af8=' },
      ],
      body: { bytes: 1, text: 'x' },
    });
  });

  it.each([
    ['text', Buffer.from('{"a":"é"}'), { bytes: 10, text: '{"a":"é"}' }],
    ['text with a byte-order mark', Buffer.from('\ufeff{}'), { bytes: 5, text: '\ufeff{}' }],
    ['bytes that are no text', Buffer.from([0x7b, 0xff]), { bytes: 2, base64: 'e/8=' }],
    ['nothing', Buffer.alloc(0), { bytes: 0, text: '' }],
  ])('carries a body of %s so that its bytes can be had back', async (_, body, expected) => {
    const letters = [letter('1', { message: { id: 'e', body, headers: [] } })];
    const { output } = await ask('messages show', { message: '1' }, { letters });
    expect(output.body).toEqual(expected);
    expect(Buffer.from(bytesOf(output.body as Body))).toEqual(body);
  });

  it('does not take a tombstone for an empty body', async () => {
    expect(((await ask('messages show', { message: '4' })).output as unknown as MessageDetail).body).toBeUndefined();
  });
});

describe('messages release', () => {
  it('answers for each name, in the order in which they came', async () => {
    const { output, services } = await ask(
      'messages release',
      { messages: ['evt-17', 'nosuch', 'evt-1', '3', '4', '171'] },
      {
        letters: LETTERS,
        releases: {
          '3': { result: 'released', behind: '2' },
          '4': { result: 'unknown' },
          '171': { result: new Error('disk') },
        },
      },
    );
    expect(output).toEqual({
      released: 2,
      notFound: 3,
      failed: 1,
      messages: [
        { named: 'evt-17', id: '17', result: 'released' },
        { named: 'nosuch', result: 'unknown', why: 'no letter has this id' },
        { named: 'evt-1', result: 'unknown', why: 'no letter has this id' },
        { named: '3', id: '3', result: 'released', behind: '2' },
        { named: '4', id: '4', result: 'unknown', why: 'its letter is not open any more' },
        { named: '171', id: '171', result: 'failed', why: 'disk' },
      ],
    });
    expect(services.released).toEqual(['17', '3', '4', '171']);
  });

  it('releases a letter once, however often and under whichever name it is named', async () => {
    const { output, services } = await ask('messages release', { messages: ['3', 'evt-3', '3'] });
    expect(services.released).toEqual(['3']);
    expect(output).toMatchObject({ released: 2, notFound: 0 });
  });

  it('refuses an empty selection', async () => {
    expect(await refusal('messages release', { messages: [] })).toMatchObject({ code: 'LZ1304' });
  });

  it('tells how far it is', async () => {
    const letters = Array.from({ length: 1_200 }, (_, at) => letter(String(at)));
    const { services } = await ask('messages release', { messages: letters.map(({ id }) => id) }, { letters });
    expect(services.told).toEqual([
      [500, 1_200],
      [1_000, 1_200],
      [1_200, 1_200],
    ]);
  });
});

describe('what is set by hand', () => {
  const said = { queue: 'orders', why: 'INC-42' };

  it.each<[string, object, object]>([
    ['queues pause', { for: '1h' }, { want: { set: 'paused' }, untilAt: NOW + 3_600_000 }],
    ['queues resume', {}, { want: { set: 'resumed' } }],
    ['breaker open', { for: '5m' }, { want: { set: 'breaker', to: 'open' }, untilAt: NOW + 300_000 }],
    [
      'breaker half-open',
      { for: '5m', dependency: '__proto__' },
      { want: { set: 'breaker', to: 'half-open', dependency: '__proto__' } },
    ],
    ['breaker close', { for: '7d' }, { want: { set: 'breaker', to: 'closed' }, untilAt: NOW + 7 * 24 * 3_600_000 }],
    ['breaker automatic', { dependency: 'payments' }, { want: { dependency: 'payments' }, at: NOW, untilAt: NOW }],
  ])('is given with reason, end and name: %s', async (name, options, expected) => {
    const { output, services } = await ask(name, { ...said, ...options });
    expect(services.given).toMatchObject([['orders', { why: 'INC-42', by: 'mira', at: NOW, ...expected }]]);
    expect(output).toMatchObject({ queue: 'orders', by: 'mira', why: 'INC-42', processes: 0 });
    expect((output.effects as string[]).at(-1)).toMatch(/^No consumer of this queue is running/);
  });

  it('says how many processes follow', async () => {
    const storms = { orders: stormOf({ views: [{}, {}] }) };
    const { output } = await ask('queues pause', { ...said, for: '1h' }, { queues: QUEUES, storms });
    expect(output).toMatchObject({ processes: 2, untilAt: new Date(NOW + 3_600_000).toISOString() });
    expect((output.effects as string[]).at(-1)).toBe('2 processes consume it, and within 2 seconds it is so.');
  });

  it('says that a breaker without a name leaves dependencies alone', async () => {
    const all = async (options: object) =>
      (await ask('breaker open', { ...said, ...options })).output.effects as string[];
    expect((await all({})).join()).toMatch(/Messages that name a dependency are not touched/);
    expect((await all({ dependency: 'payments' })).join()).not.toMatch(/not touched/);
  });

  it.each<[string, object, string]>([
    ['queues pause', { queue: 'ordrs' }, 'LZ1302'],
    ['queues pause', { for: '8d' }, 'LZ1003'],
    ['queues pause', { for: '30' }, 'LZ1042'],
    ['queues pause', { why: ' ' }, 'LZ1003'],
    ['breaker open', { why: 'x'.repeat(501) }, 'LZ1003'],
    ['queues resume', { queue: 'ordrs' }, 'LZ1302'],
  ])('is refused where it cannot be meant: %s %j', async (name, options, code) => {
    expect((await refusal(name, { ...said, ...options })).code).toBe(code);
  });
});

describe('breaker show', () => {
  const closed = { state: 'closed', why: '', pinnedForMs: 0 } as const;
  const scope = { breaker: closed, limit: 10, inFlight: 2, budget: 1 };
  const show = async (storm: Parameters<typeof stormOf>[0]) => {
    const { output } = await ask(
      'breaker show',
      { queue: 'orders' },
      { queues: QUEUES, storms: { orders: stormOf(storm) } },
    );
    return (output.queues as Record<string, unknown>[])[0]!;
  };

  it('takes the worst of the processes, says how many stand so, and sums their limits', async () => {
    const open = { ...scope, breaker: { state: 'open', why: '20 of 20', pinnedForMs: 0 } } as const;
    expect(await show({ views: [{ scopes: [scope] }, { scopes: [open] }, { scopes: [open] }] })).toMatchObject({
      processes: 3,
      breakers: [
        { of: 'queue', state: 'closed', processes: 3 },
        { of: 'rest', state: 'open', processes: 2, why: '20 of 20', limit: 30, inFlight: 6 },
      ],
    });
  });

  it('names who set what, until when, next to what processes say', async () => {
    const orders = [order({ set: 'breaker', to: 'open', dependency: 'payments' }, { by: 'mira', why: 'INC-42' })];
    const pinned = {
      dependency: 'payments',
      ...scope,
      breaker: { state: 'open', why: 'by hand', pinnedForMs: 1 },
    } as const;
    expect(await show({ orders, views: [{ scopes: [scope, pinned] }] })).toMatchObject({
      breakers: [
        { of: 'dependency', dependency: 'payments', state: 'open', by: 'mira', why: 'INC-42' },
        { of: 'queue' },
        { of: 'rest', state: 'closed' },
      ],
      orders: [{ set: 'breaker', to: 'open', dependency: 'payments', by: 'mira' }],
    });
  });

  it('forgets what is over, and processes that fell silent', async () => {
    const told = stormOf({ orders: [order({ set: 'paused' }, { untilAt: NOW })], views: [{ scopes: [scope] }] });
    const { processes, history } = told.chronicle;
    const silent = processes.map((one) => ({ ...one, at: NOW - 15_000 }));
    const storms = { orders: { ...told, chronicle: { processes: silent, history } } };
    const { output } = await ask('breaker show', { queue: 'orders' }, { queues: QUEUES, storms });
    expect(output.queues).toMatchObject([{ processes: 0, breakers: [], orders: [] }]);
  });

  it('shows all queues without a name, and refuses one that is none', async () => {
    expect((await ask('breaker show')).output.queues).toMatchObject([{ queue: 'orders' }, { queue: 'images' }]);
    expect((await refusal('breaker show', { queue: 'ordrs' })).code).toBe('LZ1302');
  });

  it.each<[string | undefined, Parameters<typeof stormOf>[0]]>([
    [undefined, {}],
    ['paused', { orders: [order({ set: 'paused' })] }],
    ['running', { views: [{ scopes: [scope] }] }],
    ['paused', { views: [{}, { pause: { state: 'half-open', why: '', pinnedForMs: 0 } }] }],
    ['open', { views: [{ scopes: [scope, { ...scope, breaker: { state: 'open', why: '', pinnedForMs: 0 } }] }] }],
    ['ramping', { views: [{ scopes: [{ ...scope, breaker: { state: 'ramping', why: '', pinnedForMs: 0 } }] }] }],
  ])('makes the queue %s in the list of queues', async (state, storm) => {
    const { output } = await ask('queues ls', {}, { queues: { orders: {} }, storms: { orders: stormOf(storm) } });
    expect((output.queues as { state?: string }[])[0]?.state).toBe(state);
  });
});
