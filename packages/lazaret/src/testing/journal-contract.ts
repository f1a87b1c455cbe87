import assert from 'node:assert/strict';
import { HEADER } from '../core/headers.ts';
import type { HeaderList } from '../core/message.ts';
import type { Delivery } from '../ports/broker.ts';
import type { End, History, Journal } from '../ports/journal.ts';
import type { Store } from '../ports/store.ts';

/** A store's journals, as somebody who wrote the store can try them. */
export interface JournalHarness {
  /** Another connection to the same store, as another process has it. */
  connect(): Promise<Store>;
  /** Lets the store's clock run: by hand where it can be set, else by waiting. */
  pass(ms: number): Promise<void>;
  /** An owner's lease that can be waited for. */
  readonly leaseMs: number;
  /** Ends what is left. */
  close(): Promise<void>;
}

export interface JournalContractOptions {
  /** The store's, in front of every case. */
  readonly name: string;
  /** The runner's own function: registers one test. */
  readonly test: (name: string, run: () => Promise<void>) => void;
  /** An empty store; called once per case. */
  readonly open: () => Promise<JournalHarness>;
}

/** Registers what every store's journal has to keep. */
export function journalContract({ name, test, open }: JournalContractOptions): void {
  for (const { name: what, run } of JOURNAL_CASES) test(`${name}: ${what}`, () => tryJournalCase(run, open));
}

/** Runs one case. Rejects with what the store did wrong. */
export async function tryJournalCase(
  run: (trial: JournalTrial) => Promise<void>,
  open: () => Promise<JournalHarness>,
): Promise<void> {
  const trial = new JournalTrial(await open());
  try {
    await run(trial);
  } finally {
    await trial.end();
  }
}

/** Two processes on one store, and what they say to it. */
export class JournalTrial {
  readonly harness: JournalHarness;
  readonly #stores: Store[] = [];

  constructor(harness: JournalHarness) {
    this.harness = harness;
  }

  /** A process that lives for so long without another word. */
  async process(owner: string, { group, leaseMs }: { group?: string; leaseMs?: number } = {}): Promise<Writer> {
    const store = await this.harness.connect();
    this.#stores.push(store);
    const journal = store.journal(owner, group);
    await journal.alive(owner, leaseMs ?? this.harness.leaseMs);
    return new Writer(journal, owner);
  }

  /** Longer than an owner lives without a word. */
  async bury(): Promise<void> {
    await this.harness.pass(this.harness.leaseMs + 1);
  }

  async end(): Promise<void> {
    for (const store of this.#stores) await store.close();
    await this.harness.close();
  }
}

class Writer {
  readonly journal: Journal;
  readonly #owner: string;

  constructor(journal: Journal, owner: string) {
    this.journal = journal;
    this.#owner = owner;
  }

  async begin(delivery: Delivery, alone = false): Promise<History> {
    const [history] = await this.journal.begin([{ delivery, alone }]);
    assert.ok(history, 'every start is answered');
    return history;
  }

  async begun(delivery: Delivery): Promise<number> {
    const { begun, token } = await this.begin(delivery);
    assert.equal(begun, true, 'it is begun');
    assert.ok(token !== undefined, 'a start that is begun has a token');
    return token;
  }

  end(delivery: Delivery, as: End['as'], token?: number): Promise<void> {
    return this.journal.end([{ delivery, as, ...(token === undefined ? {} : { token }) }]);
  }

  live(leaseMs: number): Promise<void> {
    return this.journal.alive(this.#owner, leaseMs);
  }
}

interface Seen {
  readonly queue?: string;
  readonly deliveries?: number;
  readonly headers?: HeaderList;
}

/** A delivery of message `id`; the first, where nothing else is said. */
export function seen(id: string, { queue = 'orders', deliveries = 1, headers = [] }: Seen = {}): Delivery {
  return {
    message: { id, body: new Uint8Array(), headers },
    source: { queue },
    receipt: undefined,
    attempt: 1,
    deliveries,
    firstSeenAt: 0,
  };
}

const again = (id: string): Delivery => seen(id, { deliveries: 2 });
const copyOf = (id: string, attempt: number): Delivery => seen(id, { headers: [[HEADER.attempt, String(attempt)]] });

export interface JournalCase {
  readonly name: string;
  run(trial: JournalTrial): Promise<void>;
}

export const JOURNAL_CASES: readonly JournalCase[] = [
  {
    name: 'begins what it has never seen, in the order of the starts',
    async run(t) {
      const one = await t.process('one');
      const histories = await one.journal.begin(['a', 'b', 'c'].map((id) => ({ delivery: seen(id), alone: false })));
      assert.deepEqual(
        histories.map(({ attempt, strikes, begun, ended }) => ({ attempt, strikes, begun, ended })),
        ['a', 'b', 'c'].map(() => ({ attempt: 1, strikes: 0, begun: true, ended: false })),
      );
      assert.deepEqual(await one.journal.begin([]), []);
    },
  },
  {
    name: 'keeps a start from others while its owner lives',
    async run(t) {
      const one = await t.process('one');
      const other = await t.process('other');
      await one.begun(seen('a'));
      const { begun, ended, strikes } = await other.begin(again('a'));
      assert.deepEqual({ begun, ended, strikes }, { begun: false, ended: false, strikes: 0 });
    },
  },
  {
    name: 'keeps it for as long as the owner says that it lives',
    async run(t) {
      const one = await t.process('one');
      const other = await t.process('other', { leaseMs: 100 * t.harness.leaseMs });
      await one.begun(seen('a'));
      await t.harness.pass(t.harness.leaseMs / 2);
      await one.live(3 * t.harness.leaseMs);
      await t.harness.pass(t.harness.leaseMs);
      assert.equal((await other.begin(again('a'))).begun, false);
    },
  },
  {
    name: 'counts a start whose owner is gone as a strike, and charges nothing',
    async run(t) {
      await (await t.process('one')).begun(seen('a'));
      await t.bury();
      const { begun, strikes, attempt } = await (await t.process('other')).begin(again('a'));
      assert.deepEqual({ begun, strikes, attempt }, { begun: true, strikes: 1, attempt: 1 });
    },
  },
  {
    name: 'begins two strikes only alone, and counts a refusal no further',
    async run(t) {
      for (const owner of ['one', 'two']) {
        await (await t.process(owner)).begun(again('a'));
        await t.bury();
      }
      const third = await t.process('third');
      for (let n = 0; n < 3; n++) {
        const { begun, ended, strikes } = await third.begin(again('a'));
        assert.deepEqual({ begun, ended, strikes }, { begun: false, ended: false, strikes: 2 });
      }
      assert.equal((await third.begin(again('a'), true)).begun, true);
    },
  },
  {
    name: 'counts nothing for what was released',
    async run(t) {
      const one = await t.process('one');
      await one.end(seen('a'), 'released', await one.begun(seen('a')));
      await t.bury();
      const { begun, strikes, attempt } = await (await t.process('other')).begin(again('a'));
      assert.deepEqual({ begun, strikes, attempt }, { begun: true, strikes: 0, attempt: 1 });
    },
  },
  {
    name: 'counts nothing for the owner that begins again what it has lost',
    async run(t) {
      const one = await t.process('one');
      const first = await one.begun(seen('a'));
      const { begun, strikes, token } = await one.begin(again('a'));
      assert.deepEqual({ begun, strikes }, { begun: true, strikes: 0 });
      await one.end(seen('a'), 'acked', first);
      assert.equal((await one.begin(again('a'))).ended, false, 'the end of the lost start came too late');
      assert.notEqual(token, first);
    },
  },
  {
    name: 'charges a failure that no copy carries, and clears the strikes',
    async run(t) {
      await (await t.process('one')).begun(seen('a'));
      await t.bury();
      const other = await t.process('other');
      await other.end(again('a'), 'charged', await other.begun(again('a')));
      const { attempt, strikes } = await other.begin(again('a'));
      assert.deepEqual({ attempt, strikes }, { attempt: 2, strikes: 0 });
    },
  },
  {
    name: 'knows a message that was acked, and its late copies, but no first delivery',
    async run(t) {
      const one = await t.process('one');
      await one.end(seen('a'), 'acked', await one.begun(seen('a')));
      assert.equal((await one.begin(again('a'))).ended, true);
      assert.equal((await one.begin(copyOf('a', 2))).ended, true);
      const { begun, ended, attempt } = await one.begin(seen('a'));
      assert.deepEqual({ begun, ended, attempt }, { begun: true, ended: false, attempt: 1 });
    },
  },
  {
    name: 'knows the delivery in whose place a copy stands, and goes on with the copy',
    async run(t) {
      const one = await t.process('one');
      await one.end(seen('a'), 'retried', await one.begun(seen('a')));
      assert.equal((await one.begin(again('a'))).ended, true);
      const { begun, attempt } = await one.begin(copyOf('a', 2));
      assert.deepEqual({ begun, attempt }, { begun: true, attempt: 2 });
    },
  },
  {
    name: 'takes a copy whose predecessor never said its end for that end',
    async run(t) {
      await (await t.process('one')).begun(seen('a'));
      await t.bury();
      const other = await t.process('other');
      const { begun, attempt, strikes } = await other.begin(copyOf('a', 2));
      assert.deepEqual({ begun, attempt, strikes }, { begun: true, attempt: 2, strikes: 0 });
      assert.equal((await other.begin(again('a'))).ended, true);
    },
  },
  {
    name: 'opens another life for a letter that is put back, and keeps late ends of the first one off it',
    async run(t) {
      const one = await t.process('one');
      const token = await one.begun(seen('a'));
      await one.end(seen('a'), 'dead-lettered', token);
      const back = seen('a', { deliveries: 3, headers: [[HEADER.evidence, '{"reason":"exhausted"}']] });
      assert.equal((await one.begin(back)).begun, true);
      await one.end(seen('a'), 'dead-lettered', token);
      assert.equal((await one.begin(back)).ended, false);
    },
  },
  {
    name: 'believes an end of what was never begun, unless a living owner has it open',
    async run(t) {
      const one = await t.process('one');
      const other = await t.process('other');
      await one.end(seen('oversize'), 'dead-lettered');
      assert.equal((await other.begin(again('oversize'))).ended, true);
      await one.begun(seen('open'));
      await other.end(again('open'), 'dead-lettered');
      assert.equal((await one.begin(again('open'))).ended, false);
    },
  },
  {
    name: 'refuses a late end after somebody else began',
    async run(t) {
      const one = await t.process('one');
      const late = await one.begun(seen('a'));
      await t.bury();
      const other = await t.process('other');
      await other.begun(again('a'));
      await one.end(seen('a'), 'acked', late);
      await one.end(seen('a'), 'released', late);
      await one.live(t.harness.leaseMs);
      const { begun, ended } = await one.begin(again('a'));
      assert.deepEqual({ begun, ended }, { begun: false, ended: false });
    },
  },
  {
    name: 'believes an end that is late, while nobody else began',
    async run(t) {
      const one = await t.process('one');
      const token = await one.begun(seen('a'));
      await t.bury();
      await one.end(seen('a'), 'acked', token);
      assert.equal((await (await t.process('other')).begin(again('a'))).ended, true);
    },
  },
  {
    name: 'takes an end that is said twice once',
    async run(t) {
      const one = await t.process('one');
      const token = await one.begun(seen('a'));
      await one.end(seen('a'), 'charged', token);
      await one.end(seen('a'), 'charged', token);
      assert.equal((await one.begin(again('a'))).attempt, 2);
    },
  },
  {
    name: 'knows at once that an owner has gone which says so',
    async run(t) {
      const one = await t.process('one');
      await one.begun(seen('a'));
      await one.live(0);
      assert.equal((await (await t.process('other')).begin(again('a'))).strikes, 1);
    },
  },
  {
    name: 'keeps queues, groups and ids apart, whatever characters they have',
    async run(t) {
      const plain = await t.process('one');
      const grouped = await t.process('two', { group: 'billing' });
      const ids = ['a', 'A', ' a', 'a ', 'ä', 'a\u0000b', 'a\u0000c', '\ud800', '\ud801', '__proto__', "'; --", ''];
      for (const id of ids) await plain.end(seen(id), 'acked', await plain.begun(seen(id)));
      for (const id of ids) {
        assert.equal((await plain.begin(again(id))).ended, true, JSON.stringify(id));
        assert.equal((await grouped.begin(again(id))).ended, false, `${JSON.stringify(id)} in a group`);
        assert.equal((await plain.begin(seen(id, { queue: 'refunds', deliveries: 2 }))).ended, false);
      }
    },
  },
  {
    name: 'reads its own writes within one batch',
    async run(t) {
      const one = await t.process('one');
      const tokens = await one.journal.begin(['a', 'b'].map((id) => ({ delivery: seen(id), alone: false })));
      await one.journal.end([
        { delivery: seen('a'), as: 'charged', token: tokens[0]!.token! },
        { delivery: seen('b'), as: 'acked', token: tokens[1]!.token! },
      ]);
      const histories = await one.journal.begin(
        [again('a'), again('b')].map((delivery) => ({ delivery, alone: false })),
      );
      assert.deepEqual(
        histories.map(({ attempt, ended }) => ({ attempt, ended })),
        [
          { attempt: 2, ended: false },
          { attempt: 1, ended: true },
        ],
      );
    },
  },
];
