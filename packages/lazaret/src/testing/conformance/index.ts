import type { Broker, Subscription } from '../../ports/broker.ts';
import { type Case, notApplicable } from './case.ts';
import { THEMES } from './cases/index.ts';
import type { Harness } from './harness.ts';
import type { Examinee } from './needs.ts';
import { patienceOf, soon } from './patience.ts';
import { Trial } from './trial.ts';
import { Worker } from './worker.ts';

export type { Case } from './case.ts';
export { THEMES } from './cases/index.ts';
export type { Harness, Letter, QueueOptions } from './harness.ts';
export type { Examinee } from './needs.ts';

export interface ConformanceOptions {
  /** The driver's, in front of every case. */
  readonly name: string;
  /** The runner's own function: registers one test. */
  readonly test: (name: string, run: () => Promise<void>) => void;
  /** Registers one that is not applicable. Default: a test that passes, with the reason in its name. */
  readonly skip?: (name: string, reason: string) => void;
  /** Called once to find out what the driver promises, then once per case. */
  readonly open: () => Promise<Harness>;
}

/**
 * Registers every case of the suite for one driver. Which of them apply is read from what the driver promises;
 * those that do not are registered with the reason, never dropped.
 *
 *     import { test } from 'vitest'; // or node:test, or any other
 *     await conformance({ name: 'mine', test, open: openMyHarness });
 */
export async function conformance({ name, test, skip, open }: ConformanceOptions): Promise<void> {
  const examinee = await examine(open);
  const pass = (title: string, reason: string) => test(`${title} (not applicable: ${reason})`, async () => undefined);
  for (const [theme, cases] of Object.entries(THEMES)) {
    for (const candidate of cases) {
      const title = `${name}: ${theme}: ${candidate.name}`;
      const reason = notApplicable(candidate, examinee);
      if (reason === undefined) test(title, () => tryCase(candidate, examinee, open));
      else (skip ?? pass)(title, reason);
    }
  }
}

/** Runs one case against a freshly opened server. Rejects with what the driver did wrong. */
export async function tryCase(candidate: Case, examinee: Examinee, open: () => Promise<Harness>): Promise<void> {
  const trial = new Trial(await open(), examinee);
  try {
    await candidate.run(trial);
  } catch (failure) {
    // n.b. a driver that failed may also fail to close; what it did first is what counts.
    await trial.end().catch(() => undefined);
    throw failure;
  }
  await trial.end();
}

/** What the driver promises, and what this server can be made to do. */
export async function examine(open: () => Promise<Harness>): Promise<Examinee> {
  const harness = await open();
  const { longMs } = patienceOf(harness);
  const broker: Broker = await soon(harness, 'connect', harness.broker(), longMs);
  const subscribe = async (ordered: boolean): Promise<Subscription> => {
    const queue = await soon(harness, 'provisioning', harness.queue({ ordered, retryDelaysMs: [] }), longMs);
    const worker = new Worker(harness, broker, {});
    await worker.subscribe(queue);
    return worker.subscription;
  };
  const plain = await subscribe(false);
  const ordered = await subscribe(true);
  const examinee: Examinee = {
    capabilities: plain.capabilities,
    ordered: ordered.capabilities,
    hasJournal: plain.journal !== undefined,
    hasAlone: plain.alone !== undefined,
    hasBrowse: broker.browse !== undefined,
    canBeCut: harness.cut !== undefined,
    takesOver: harness.takesOver === true,
    dedupes: harness.dedupeWindowMs !== undefined,
    hasNative: harness.native !== undefined,
  };
  await soon(harness, 'close', broker.close(), longMs);
  await harness.close();
  return examinee;
}
