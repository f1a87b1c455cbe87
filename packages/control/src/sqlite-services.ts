import { stat } from 'node:fs/promises';
import { changeOrders } from 'lazaret';
import {
  chronicleKey,
  LazaretError,
  lifted,
  ordered,
  ordersKey,
  readChronicle,
  readOrders,
  slotOf,
} from 'lazaret/core';
import type { SqliteBroker } from 'lazaret/sqlite';
import type { Letter, LetterQuery, Letters, Services, Storms } from './operations/services.ts';

/** A page holds bodies, which may be large. */
const PAGE = 100;

/** LZ1306 where there is no such file: looking never creates one. */
export async function existingFile(file: string, named: boolean): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (found !== undefined) return file;
  throw new LazaretError('LZ1306', `there is no database '${file}'.`, {
    hint: named
      ? 'Check the path; looking never creates a database.'
      : "Name yours with --db <file>; 'lazaret run … --db lazaret.db' makes one.",
  });
}

/** What operations work on, from one SQLite file. */
export function sqliteServices(broker: SqliteBroker, around: Pick<Services, 'progress' | 'person' | 'now'>): Services {
  return {
    queues: async () => (await broker.queues()).map(({ name, ...facts }) => ({ name, facts })),
    capabilities: (queue) => broker.capabilities(queue),
    letters: lettersOf(broker),
    storm: stormsOf(broker),
    ...around,
  };
}

function stormsOf({ shared }: SqliteBroker): Storms {
  return {
    async look(queues) {
      const found = await shared.get(queues.flatMap((queue) => [ordersKey(queue), chronicleKey(queue)]));
      return queues.map((_, at) => ({
        orders: readOrders(found[2 * at]?.value ?? null),
        chronicle: readChronicle(found[2 * at + 1]?.value ?? null),
      }));
    },
    async give(queue, order) {
      const { at, untilAt, want } = order;
      await changeOrders(shared, queue, (orders) =>
        untilAt > at ? ordered(orders, order, at) : lifted(orders, slotOf(want), at),
      );
    },
  };
}

function lettersOf({ letters }: SqliteBroker): Letters {
  return {
    list: (query) => listed(letters, query),
    show: (id) => letters.show(id),
    find: (text, max) => found(letters, text, max),
    async release(ids) {
      const results = await letters.release(ids);
      return results.map((released) => ({
        result: released.result,
        ...('behind' in released ? { behind: released.behind } : {}),
      }));
    },
  };
}

async function listed(letters: SqliteBroker['letters'], { reason, max, ...query }: LetterQuery) {
  const page = await letters.list({ ...query, max: Math.min(max, PAGE) });
  if (reason === undefined) return page;
  return { ...page, items: page.items.filter(({ evidence }) => evidence.reason === reason) };
}

/** Looks through all of them: an answer from a part would be wrong. */
async function found(letters: SqliteBroker['letters'], text: string, max: number): Promise<readonly Letter[]> {
  const exact: Letter[] = [];
  const beginning: Letter[] = [];
  let after: string | undefined;
  do {
    const page = await letters.list({ max: PAGE, ...(after === undefined ? {} : { after }) });
    for (const letter of page.items) {
      if (letter.message.id === text) exact.push(letter);
      else if (beginning.length < max && letter.message.id?.startsWith(text)) beginning.push(letter);
    }
    after = page.next;
  } while (after !== undefined);
  return (exact.length > 0 ? exact : beginning).slice(0, max);
}
