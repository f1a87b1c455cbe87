import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./packages/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests read the sources, so that a failure points at the line that was written.
    alias: [
      { find: /^lazaret$/, replacement: source('lazaret/src/index.ts') },
      { find: /^lazaret\/(core|testing)$/, replacement: source('lazaret/src/$1/index.ts') },
      {
        find: /^lazaret\/(kafka|memory|nats|postgres|rabbitmq|redis|sqlite|sqs)$/,
        replacement: source('lazaret/src/drivers/$1/index.ts'),
      },
    ],
  },
  test: {
    // Suites against real servers live by the wall clock, and two of them share the machine: what failed once is tried again, and said so.
    retry: 1,
    // Half of the suites wait for servers and clocks, so that two of them share a core well.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    include: ['packages/*/test/**/*.test.ts', 'scripts/test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
