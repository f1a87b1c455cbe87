import { describe, expect, it } from 'vitest';
import type { Journal } from '../../src/ports/journal.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { JOURNAL_CASES, tryJournalCase } from '../../src/testing/journal-contract.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';

/** The names of the cases that a store broken by `fault` does not pass. */
async function caught(fault: (journal: Journal) => Partial<Journal>): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of JOURNAL_CASES) {
    const system = new ManualSystem();
    const driver = memoryStore();
    const open = async () => ({
      async connect() {
        const store = await driver.connect(system);
        return {
          ...store,
          name: store.name,
          close: () => store.close(),
          journal: (owner: string, group: string | undefined) => {
            const journal = store.journal(owner, group);
            return { ...journal, ...fault(journal) };
          },
        };
      },
      pass: (ms: number) => system.advance(ms),
      leaseMs: 1_000,
      close: async () => undefined,
    });
    await tryJournalCase(run, open).catch(() => failed.push(name));
  }
  return failed;
}

describe('the contract of journals catches a store that', () => {
  it.each<[string, (journal: Journal) => Partial<Journal>, string]>([
    [
      'forgets ends',
      () => ({ end: async () => undefined }),
      'charges a failure that no copy carries, and clears the strikes',
    ],
    [
      'believes late ends',
      (journal) => ({ end: (ends) => journal.end(ends.map(({ token: _token, ...end }) => end)) }),
      'counts nothing for the owner that begins again what it has lost',
    ],
    [
      'answers in another order',
      (journal) => ({ begin: async (starts) => [...(await journal.begin(starts))].reverse() }),
      'reads its own writes within one batch',
    ],
    [
      'believes that everybody lives',
      (journal) => ({ alive: (owner) => journal.alive(owner, 1e12) }),
      'counts a start whose owner is gone as a strike, and charges nothing',
    ],
    [
      'begins suspects beside others',
      (journal) => ({ begin: (starts) => journal.begin(starts.map((start) => ({ ...start, alone: true }))) }),
      'begins two strikes only alone, and counts a refusal no further',
    ],
  ])('%s', async (_, fault, name) => {
    expect(await caught(fault)).toContain(name);
  });

  it('and passes one that does nothing of the kind', async () => {
    expect(await caught(() => ({}))).toEqual([]);
  });
});
