import { letterNamed, whichOf } from './named-letter.ts';
import type { Operation, Static } from './operation.ts';
import { refusalOf, refuse } from './refusal.ts';
import type { Release, Services } from './services.ts';

const input = {
  type: 'object',
  properties: {
    messages: {
      type: 'array',
      items: { type: 'string' },
      description: "numbers of letters ('#12' or '12'), or ids of messages",
    },
  },
  required: ['messages'],
  additionalProperties: false,
} as const;

const output = {
  type: 'object',
  properties: {
    released: { type: 'integer' },
    notFound: { type: 'integer' },
    failed: { type: 'integer' },
    messages: {
      type: 'array',
      description: 'in the order in which they were named',
      items: {
        type: 'object',
        properties: {
          named: { type: 'string', description: 'as it was asked for' },
          id: { type: 'string', description: 'of the letter, where one was found' },
          result: { type: 'string', enum: ['released', 'unknown', 'ambiguous', 'failed'] },
          behind: {
            type: 'string',
            description: 'an older letter of its key is open: consumed in order, it waits for that one',
          },
          why: { type: 'string' },
        },
        required: ['named', 'result'],
      },
    },
  },
  required: ['released', 'notFound', 'failed', 'messages'],
} as const;

type Input = Static<typeof input>;
export type ReleaseReport = Static<typeof output>;
export type ReleaseRow = ReleaseReport['messages'][number];

/** Each is one transaction: large enough to be quick, small enough that progress can be seen and others get their turn. */
const BATCH = 500;

export const messagesRelease: Operation<Input, ReleaseReport> = {
  name: 'messages release',
  summary: 'Put quarantined messages back into their queues, as if they had never failed',
  subject: 'messages',
  input,
  output,
  async run(services, { messages }) {
    if (messages.length === 0) {
      throw refuse(
        'LZ1304',
        'no message was named, so nothing was released.',
        "Name some, or pipe them in: 'lazaret messages ls | lazaret messages release -'.",
      );
    }
    const names = [...new Set(messages)];
    const rows: ReleaseRow[] = [];
    for (let at = 0; at < names.length; at += BATCH) {
      rows.push(...(await release(services, names.slice(at, at + BATCH))));
      services.progress(Math.min(at + BATCH, names.length), names.length);
    }
    const count = (...results: readonly ReleaseRow['result'][]) =>
      rows.filter(({ result }) => results.includes(result)).length;
    return {
      released: count('released'),
      notFound: count('unknown', 'ambiguous'),
      failed: count('failed'),
      messages: rows,
    };
  },
};

async function release(services: Services, names: readonly string[]): Promise<readonly ReleaseRow[]> {
  const looked: { readonly named: string; readonly id?: string; readonly row?: ReleaseRow }[] = [];
  for (const named of names) looked.push(await lookUp(services, named));
  const ids = [...new Set(looked.flatMap(({ id }) => id ?? []))];
  const results = await services.letters.release(ids);
  const byId = new Map(ids.map((id, at) => [id, results[at]!]));
  return looked.map(({ named, id, row }) => row ?? rowOf(named, id!, byId.get(id!)!));
}

async function lookUp(services: Services, named: string): Promise<{ named: string; id?: string; row?: ReleaseRow }> {
  const found = await letterNamed(services, named, { beginnings: false });
  switch (found.kind) {
    case 'one':
      return { named, id: found.id };
    case 'several':
      return { named, row: { named, result: 'ambiguous', why: whichOf(found.letters) } };
    case 'none':
      return { named, row: { named, result: 'unknown', why: 'no letter has this id' } };
  }
}

function rowOf(named: string, id: string, { result, behind }: Release): ReleaseRow {
  if (result === 'released') return { named, id, result, ...(behind === undefined ? {} : { behind }) };
  if (result === 'unknown') return { named, id, result, why: 'its letter is not open any more' };
  return { named, id, result: 'failed', why: refusalOf(result).message };
}
