import { describe, expect, it } from 'vitest';
import type { Reply } from '../../../src/runtime/isolate/protocol.ts';
import type { Spawned } from '../../../src/runtime/isolate/spawn.ts';
import { nodeProcesses } from '../../../src/runtime/isolate/spawn.ts';
import { realSystem } from '../../../src/system.ts';
import { HANDLERS } from './handlers.ts';
import { pause } from './processes.ts';

const MB = 1024 ** 2;

/** Starts a child and answers when it is ready, or with how it ended. */
function started(flags: string[], reportEveryMs?: number) {
  const ended: string[] = [];
  let child: Spawned | undefined;
  const first = new Promise<Reply | string>((resolve) => {
    const spawn = nodeProcesses(HANDLERS.acts, flags, reportEveryMs, realSystem);
    child = spawn({
      replied: resolve,
      ended: (how) => {
        ended.push(how);
        resolve(how);
      },
    });
  });
  return { child: child!, first, ended };
}

async function until(is: () => boolean): Promise<void> {
  for (let look = 0; look < 250 && !is(); look++) await pause(20);
  expect(is()).toBe(true);
}

describe('a process', () => {
  it('gets ready, and ends once when it is killed', async () => {
    const { child, first, ended } = started([]);
    expect(await first).toEqual({ kind: 'ready' });
    child.kill();
    child.kill();
    await until(() => ended.length > 0);
    await pause(200);
    expect(ended).toEqual(['signal SIGKILL']);
  });

  it('exits by itself when it is dismissed', async () => {
    const { child, first, ended } = started([]);
    await first;
    child.dismiss();
    await until(() => ended.length > 0);
    expect(ended).toEqual(['exit code 0']);
  });

  it('says itself how much memory it uses, where nobody else can tell', async () => {
    const { child, first, ended } = started([], 20);
    await first;
    await until(() => (child.memory() ?? 0) > 35 * MB);
    child.kill();
    await until(() => ended.length > 0);
  });

  it('that cannot be started has ended, and nothing is thrown', async () => {
    const { child, first } = started(['x'.repeat(4 * MB)]);
    expect(await first).toMatch(/^an error at its start: .*E2BIG/);
    child.tell({ kind: 'extended', ask: 1, ours: true });
    child.dismiss();
    child.kill();
    expect(child.memory()).toBeUndefined();
  });
});
