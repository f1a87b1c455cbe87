import { type ConsumeOptions, consumerPolicy, examine, formatDuration } from 'lazaret/core';
import type { SimulationRun } from 'lazaret/testing';
import type { CommandSpec, Globals } from './cli/command-spec.ts';
import { EXIT, type ExitCode } from './cli/exit-code.ts';
import { present } from './cli/present.ts';
import { progressOn } from './cli/progress.ts';
import { shellLine } from './cli/shell-line.ts';
import type { Output } from './cli/sink.ts';
import { simulationView } from './cli/views/simulate.ts';
import { consumeOptions } from './operations/consume-flags.ts';
import type { Static } from './operations/operation.ts';
import { refuse } from './operations/refusal.ts';
import { type Arm, armsOf } from './simulate/arms.ts';
import { CAPACITY, CLIENT_TIMEOUT_MS, type Plan, SCENARIOS, setupOf } from './simulate/plan.ts';
import { headline, premise } from './simulate/sentences.ts';
import { type Summary, summaryOf } from './simulate/summary.ts';

const input = {
  type: 'object',
  properties: {
    scenario: {
      type: 'string',
      enum: [...SCENARIOS],
      default: 'outage',
      description: 'what happens to the dependency',
    },
    full: { type: 'boolean', description: 'twenty minutes of it instead of three' },
    out: { type: 'string', minLength: 1, description: 'write a report with plots to this file (HTML)' },
    load: { type: 'integer', minimum: 1, maximum: 1000, default: 50, description: 'messages that arrive in a second' },
    instances: { type: 'integer', minimum: 1, maximum: 100, default: 4, description: 'processes that consume' },
    concurrency: { type: 'integer', minimum: 1, maximum: 1000, default: 100, description: 'handlers of each' },
    seeds: {
      type: 'integer',
      minimum: 1,
      maximum: 50,
      default: 3,
      description: 'runs of each way, each by other chances',
    },
    policy: {
      type: 'string',
      minLength: 1,
      description: "options of your consumer, as JSON in a file: { 'backoff': … }",
    },
    maxAttempts: { type: 'integer', minimum: 1, description: 'as your consumer has it' },
    backoff: { type: 'string', description: "a preset, or delays: '2s,8s,30s'" },
    jitter: { type: 'string', description: "'±20%', none, full or decorrelated" },
    timeout: { type: 'string', description: "deadline of one run: '15m'" },
    rateLimit: { type: 'string', description: "starts: '100/s'" },
  },
  additionalProperties: false,
} as const;

type SimulateFlags = Static<typeof input>;

export interface SimulateAround {
  readonly output: Output;
  now(): number;
  monotonic(): number;
  readText(file: string): Promise<string>;
  writeText(file: string, text: string): Promise<void>;
}

/** What the command answers; also its JSON document. */
export interface Simulated {
  readonly scenario: string;
  readonly premise: string;
  readonly arms: readonly Summary[];
  readonly sentences: readonly string[];
  readonly findings: readonly {
    readonly rule: string;
    readonly finding: string;
    readonly why: string;
    readonly todo: string;
  }[];
  readonly report?: string;
}

const SHORT_MS = 180_000;
const LONG_MS = 1_200_000;

const HELP = `Runs Lazaret's own consumer under a virtual clock before a modelled dependency (20 calls at a time, 100 ms each, a
client that gives up after 2 s), and compares ways to retry. With options of your consumer, or --policy, yours is one of them.`;

export function simulateCommand(around: SimulateAround): CommandSpec {
  return {
    name: 'simulate',
    summary: 'See what an outage would do to a queue, with your policy and with others',
    input,
    help: HELP,
    act: (flags, globals) => act(flags as SimulateFlags, globals, around),
  };
}

async function act(flags: SimulateFlags, { json }: Globals, around: SimulateAround): Promise<ExitCode> {
  const { output } = around;
  const { concurrency = 100 } = flags;
  const yours = await yourOptions(flags, around);
  const plan = planOf(flags);
  const arms = armsOf(concurrency, yours);
  const all = await runArms(plan, arms, around);
  const findings = examine(consumerPolicy({ concurrency, ...yours }), {
    instances: plan.instances,
    degradedPerSecond: Math.round(CAPACITY * 0.3),
    clientTimeoutMs: CLIENT_TIMEOUT_MS,
  });
  const summaries = arms.map((arm, at) => summaryOf(arm, all[at]!));
  const simulated: Simulated = {
    scenario: plan.scenario,
    premise: premise(plan, concurrency, CAPACITY),
    arms: summaries,
    sentences: summaries.map(headline),
    findings,
    ...(flags.out === undefined ? {} : { report: flags.out }),
  };
  if (flags.out !== undefined) await writeReport(flags.out, plan, simulated, all, flags, around);
  await present(simulated, simulationView, output, { now: around.now() }, { json, repeated: [] });
  return EXIT.ok;
}

function planOf({ scenario = 'outage', full = false, load = 50, instances = 4, seeds = 3 }: SimulateFlags): Plan {
  return {
    scenario: scenario as Plan['scenario'],
    troubleMs: full ? LONG_MS : SHORT_MS,
    perSecond: load,
    instances,
    seeds,
  };
}

/** `undefined` where none are given. Throws what `consume` would. */
async function yourOptions(flags: SimulateFlags, around: SimulateAround): Promise<ConsumeOptions | undefined> {
  const { maxAttempts, backoff, jitter, timeout, rateLimit, policy } = flags;
  const fromFlags = consumeOptions(givenOnly({ maxAttempts, backoff, jitter, timeout, rateLimit }));
  if (policy === undefined && Object.keys(fromFlags).length === 0) return undefined;
  const options = { ...(policy === undefined ? {} : await readPolicy(policy, around)), ...fromFlags };
  consumerPolicy(options);
  return options;
}

/** Only what is given. */
function givenOnly(flags: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

async function readPolicy(file: string, { readText }: SimulateAround): Promise<object> {
  let policy: unknown;
  try {
    policy = JSON.parse(await readText(file));
  } catch (cause) {
    throw refuse(
      'LZ1301',
      `the policy '${file}' cannot be read: ${(cause as Error).message}.`,
      'Write options of a consumer as JSON.',
    );
  }
  if (typeof policy === 'object' && policy !== null && !Array.isArray(policy)) return policy;
  throw refuse('LZ1301', `the policy '${file}' is no object.`, 'Write { "maxAttempts": 6 }.');
}

/** For each arm its runs, one per seed. */
async function runArms(
  plan: Plan,
  arms: readonly Arm[],
  { output, monotonic }: SimulateAround,
): Promise<readonly SimulationRun[][]> {
  const { runAll } = await import('./simulate/threads.ts');
  const progress = await progressOn(output.stderr, 'runs', monotonic);
  const setups = arms.flatMap(({ policy }) =>
    Array.from({ length: plan.seeds }, (_, seed) => setupOf(plan, policy, seed + 1)),
  );
  try {
    const runs = await runAll(setups, (done) => progress.at(done, setups.length));
    return arms.map((_, at) => runs.slice(at * plan.seeds, (at + 1) * plan.seeds));
  } finally {
    progress.end();
  }
}

async function writeReport(
  file: string,
  { troubleMs, scenario }: Plan,
  { arms, premise: said, findings }: Simulated,
  all: readonly (readonly SimulationRun[])[],
  flags: SimulateFlags,
  around: SimulateAround,
): Promise<void> {
  const { reportPage } = await import('./simulate/report-page.ts');
  const page = reportPage({
    title: `What ${formatDuration(troubleMs)} of ${scenario} would do to this queue`,
    premise: said,
    command: commandLine(flags),
    calmMs: all[0]![0]!.setup.calmMs,
    troubleMs,
    arms: arms.map((summary, at) => ({ summary, runs: all[at]! })),
    findings,
  });
  await around.writeText(file, page);
}

function commandLine(flags: SimulateFlags): string {
  const words = Object.entries(flags).flatMap(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? [flag] : [flag, String(value)];
  });
  return shellLine(['lazaret', 'simulate', ...words]);
}
