import { test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { journalContract } from '../../src/testing/journal-contract.ts';
import { ManualSystem } from '../../src/testing/manual-system.ts';

journalContract({
  name: 'memory',
  test,
  async open() {
    const system = new ManualSystem();
    const driver = memoryStore();
    return {
      connect: () => driver.connect(system),
      pass: (ms) => system.advance(ms),
      leaseMs: 1_000,
      close: async () => undefined,
    };
  },
});
