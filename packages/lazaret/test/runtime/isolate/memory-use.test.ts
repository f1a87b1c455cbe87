import { describe, expect, it } from 'vitest';
import { memoryOf, othersAreSeen, readStatus } from '../../../src/runtime/isolate/memory-use.ts';

const STATUS = `Name:\tnode
VmPeak:\t  761796 kB
VmRSS:\t   42996 kB
RssAnon:\t    7024 kB
RssFile:\t   35972 kB
RssShmem:\t      16 kB
VmData:\t   82280 kB
VmSwap:\t     100 kB
Threads:\t11
`;

describe('the memory of a process', () => {
  it('is what only it uses, swapped out or not', () => {
    expect(readStatus(STATUS)).toBe((7024 + 16 + 100) * 1024);
  });

  it('is all that is resident where no more is told', () => {
    expect(readStatus('Name:\tnode\nVmRSS:\t   42996 kB\n')).toBe(42_996 * 1024);
  });

  it('is unknown of a process that has ended', () => {
    expect(readStatus('Name:\tnode\nState:\tZ (zombie)\n')).toBeUndefined();
    expect(memoryOf(2 ** 30)).toBeUndefined();
  });

  it.runIf(othersAreSeen)('grows when the process takes some', () => {
    const before = memoryOf(process.pid)!;
    const taken = Buffer.alloc(64 * 1024 ** 2, 1);
    expect(memoryOf(process.pid)! - before).toBeGreaterThan(taken.length / 2);
  });
});
