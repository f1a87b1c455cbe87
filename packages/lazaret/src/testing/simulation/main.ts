import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { ABLATION, type Arm, NAIVE, OURS } from './arms.ts';
import { ABLATED, type Cell, GRID, lasting } from './cells.ts';
import { simulate } from './simulate.ts';
import { type Facts, type Row, renderRows } from './table.ts';

const USAGE = `What outages and other troubles do to a queue: the runtime as it is, in virtual time.

  --grid           every situation: our policy with all seeds, what is done without storm control with one
  --ablation       our policy without one mechanism at a time
  --seeds <n>      of our policy (default 20)
  --cell <text>    only situations whose name has this text
  --arm <text>     only ways to retry whose name has this text
  --minutes <n>    how long each trouble lasts, instead of its own time
  --out <file>     writes <file>.md and <file>.json
  --hashes         the hash of every run
`;

const { values } = parseArgs({
  options: {
    grid: { type: 'boolean' },
    ablation: { type: 'boolean' },
    seeds: { type: 'string', default: '20' },
    cell: { type: 'string', default: '' },
    arm: { type: 'string', default: '' },
    minutes: { type: 'string' },
    out: { type: 'string' },
    hashes: { type: 'boolean' },
  },
});

if (values.grid || values.ablation) await all();
else console.log(USAGE);

async function all(): Promise<void> {
  const [cells, arms] = values.ablation ? [ABLATED, ABLATION] : [GRID, [OURS, ...NAIVE]];
  const rows: Row[] = [];
  for (const cell of cells.filter(({ name }) => name.includes(values.cell))) {
    for (const arm of arms.filter(({ name }) => name.includes(values.arm))) {
      const row = await rowOf(cell, arm);
      rows.push(row);
      if (!values.hashes) console.log(`${cell.name}: ${arm.name}, ${row.outcomesPerSecond} outcomes per second`);
      await write(rows);
    }
  }
}

async function rowOf({ name, pool, situation: own }: Cell, arm: Arm): Promise<Row> {
  const situation = values.minutes === undefined ? own : lasting(own, Number(values.minutes) * 60_000);
  const seeds = NAIVE.includes(arm) ? 1 : Number(values.seeds);
  const before = process.cpuUsage();
  const runs: Facts[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const { series, setup: _, events, ...facts } = await simulate({ ...situation, seed, policy: arm.policy(pool) });
    const pausedAtMs = events.find(({ what }) => what === 'paused')?.atMs;
    const pausedAfterMs = pausedAtMs === undefined ? undefined : pausedAtMs - situation.calmMs;
    runs.push({ ...facts, seed, left: series.backlog.at(-1)!, pausedAfterMs });
    if (values.hashes) console.log(`${name}: ${arm.name} ${seed} ${facts.hash}`);
  }
  const { user, system } = process.cpuUsage(before);
  const outcomes = runs.reduce((sum, run) => sum + run.outcomes, 0);
  const outcomesPerSecond = Math.round(outcomes / ((user + system) / 1e6));
  return { cell: name, arm: arm.name, troubleMs: situation.troubleMs, runs, outcomesPerSecond };
}

function quoted(argument: string): string {
  return /^[\w./-]+$/.test(argument) ? argument : JSON.stringify(argument);
}

/** After each row, so that a run that is ended early leaves what it has. */
async function write(rows: readonly Row[]): Promise<void> {
  if (values.out === undefined) return;
  const command = `node packages/lazaret/dist/testing/simulation/main.js ${process.argv.slice(2).map(quoted).join(' ')}`;
  const machine = `${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.versions.node}, V8 ${process.versions.v8}`;
  await writeFile(`${values.out}.json`, `${JSON.stringify({ command, machine, rows }, undefined, 2)}\n`);
  await writeFile(`${values.out}.md`, page(command, machine, rows));
}

function page(command: string, machine: string, rows: readonly Row[]): string {
  const title = values.ablation
    ? 'Storm control without one mechanism at a time'
    : 'What storm control does in trouble';
  return [
    `# ${title}`,
    '',
    'The runtime as it is, on the memory driver, in virtual time, against a modelled dependency: 20 servers of 100 ms each,',
    'first come, first served; work that its client gave up after 2 s is done all the same, and takes half as long again while the',
    'queue is longer than a client waits. The median of the seeds, with the least and the most where they differ.',
    '',
    `    ${command}`,
    '',
    machine,
    '',
    renderRows(rows),
  ].join('\n');
}
