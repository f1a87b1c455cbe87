import { describe, expect, it } from 'vitest';
import { conformance, THEMES } from '../../src/testing/conformance/index.ts';
import { isSettled, soon } from '../../src/testing/conformance/patience.ts';
import { memoryHarness } from '../drivers/memory-harness.ts';

const COUNT = Object.values(THEMES).flat().length;
const open = () => memoryHarness({ shape: 'log', sessionMs: 1_000 });

/** What a runner would be given. */
async function registered(withSkip: boolean) {
  const tests: string[] = [];
  const skipped: [name: string, reason: string][] = [];
  await conformance({
    name: 'log',
    test: (name) => void tests.push(name),
    ...(withSkip ? { skip: (name, reason) => void skipped.push([name, reason]) } : {}),
    open,
  });
  return { tests, skipped };
}

describe('the suite', () => {
  it('registers every case, those that do not apply with the reason in their name', async () => {
    const { tests } = await registered(false);
    expect(tests).toHaveLength(COUNT);
    expect(tests).toContain('log: leases: counts an extension from now (not applicable: deliveries have no lease)');
    expect(tests).toContain('log: settles: forgets what was acknowledged');
  });

  it('hands those to a runner that can skip', async () => {
    const { tests, skipped } = await registered(true);
    expect(tests.length + skipped.length).toBe(COUNT);
    expect(skipped).toContainEqual(['log: leases: counts an extension from now', 'deliveries have no lease']);
  });

  it('has room for no fewer cases than were promised', () => {
    expect(COUNT).toBeGreaterThanOrEqual(55);
  });
});

describe('patience', () => {
  it('lets no more time pass than an answer needs', async () => {
    const harness = await open();
    const startedAt = harness.system.monotonic();
    const work = new Promise<string>((resolve) => harness.system.after(70, () => resolve('answer')));
    expect(await soon(harness, 'work', work, 1_000)).toBe('answer');
    expect(harness.system.monotonic() - startedAt).toBeLessThan(150);
  });

  it('says what did not answer, and when', async () => {
    const harness = await open();
    const silence = new Promise<never>(() => undefined);
    await expect(soon(harness, 'settle', silence, 300)).rejects.toThrow('settle did not answer within 300 ms');
  });

  it('leaves a rejection to whoever awaits the work', async () => {
    const harness = await open();
    const failing = Promise.reject(new Error('refused'));
    expect(await isSettled(harness, failing, 100)).toBe(true);
    await expect(soon(harness, 'work', failing, 100)).rejects.toThrow('refused');
  });
});
