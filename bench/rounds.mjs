import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('child.mjs', import.meta.url));

/** All contestants of a row, one after the other, so that what disturbs the machine disturbs all of them alike. */
export async function measureRound(row, { binding, scale, nodes }) {
  const round = {};
  for (const contestant of row.contestants) {
    round[contestant.as] = await measure(row, { ...contestant, row: row.number, binding, scale }, nodes);
  }
  return { ...round, load: loadavg()[0] };
}

async function measure(row, setup, nodes) {
  const folder = await mkdtemp(join(tmpdir(), 'lazaret-bench-'));
  const here = { ...setup, file: join(folder, 'queue.db') };
  const node = nodes[setup.contender === 'plainjob' ? 'better-sqlite3' : setup.binding];
  try {
    if (row.prepare !== undefined) await inChild('prepare', here, node);
    return await inChild('measure', here, node);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What the step answers. Rejects where its process ends without an answer. */
export function inChild(step, setup, node) {
  const child = fork(CHILD, [step, JSON.stringify(setup)], {
    execPath: node,
    execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'],
  });
  return new Promise((resolve, reject) => {
    let answer;
    child.on('message', (message) => {
      answer = message;
      child.disconnect();
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0 && answer !== undefined) resolve(answer);
      else reject(new Error(`${step} of ${JSON.stringify(setup)} ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}
