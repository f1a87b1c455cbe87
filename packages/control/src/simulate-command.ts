import { type ConsumeOptions, consumerPolicy, examine } from 'lazaret/core';
import type { CommandSpec, Globals } from './cli/command-spec.ts';
import { EXIT, type ExitCode } from './cli/exit-code.ts';
import { present, say } from './cli/present.ts';
import { progressOn } from './cli/progress.ts';
import { shellLine } from './cli/shell-line.ts';
import type { Output } from './cli/sink.ts';
import { consumeOptions } from './operations/consume-flags.ts';
import type { JsonSchema, Static } from './operations/operation.ts';
import { refuse } from './operations/refusal.ts';
import { type Arm, armsOf } from './simulate/arms.ts';
import { CLIENT_TIMEOUT_MS, DEGRADED, type Plan, SCENARIOS, setupsOf } from './simulate/plan.ts';
import type { reportPage } from './simulate/report-page.ts';
import { headline, premise } from './simulate/sentences.ts';
import { summaryOf } from './simulate/summary.ts';
import type { runAll } from './simulate/threads.ts';
import { type Simulated, simulateView } from './simulate-view.ts';

const SHORT_MS = 180_000;
const LONG_MS = 1_200_000;
const LOAD = 50;
const INSTANCES = 4;
const CONCURRENCY = 25;
const SEEDS = 3;

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
    out: { type: 'string', minLength: 1, description: 'write a report with plots to this HTML file' },
    load: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: LOAD,
      description: 'messages that arrive in a second',
    },
    instances: { type: 'integer', minimum: 1, maximum: 100, default: INSTANCES, description: 'processes that consume' },
    concurrency: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      description: `handlers of each process (default: what --policy says, or ${CONCURRENCY})`,
    },
    seed: { type: 'integer', minimum: 1, maximum: 1_000_000, default: 1, description: 'of the first run' },
    seeds: { type: 'integer', minimum: 1, maximum: 50, default: SEEDS, description: 'runs of each policy' },
    policy: { type: 'string', minLength: 1, description: 'JSON file with the options of your consumer' },
    maxAttempts: { type: 'integer', minimum: 1, description: 'as your consumer has it' },
    backoff: { type: 'string', description: "a preset, or delays: '2s,8s,30s'" },
    jitter: { type: 'string', description: "'±20%', none, full or decorrelated" },
    timeout: { type: 'string', description: "deadline of one run: '15m'" },
    rateLimit: { type: 'string', description: "starts at most: '100/s'" },
  },
  additionalProperties: false,
} as const;

type SimulateFlags = Static<typeof input>;

export interface SimulateAround {
  readonly output: Output;
  /** Epoch milliseconds. */
  now(): number;
  monotonic(): number;
  readText(file: string): Promise<string>;
  writeText(file: string, text: string): Promise<void>;
  /** In threads of their own, where it is a process that runs them. */
  readonly runAll?: typeof runAll;
}

const HELP = `Runs Lazaret's own consumer in virtual time, before a modelled dependency that serves 20 calls at a time, 100 ms each, and whose
client gives up after 2 s. It compares: fixed (every 5 s, for ever), exponential, full jitter, bounded (2, 8, 30 s, then quarantine),
lazaret (the defaults) and, with options of your consumer, yours. --concurrency 100 shows what too many handlers do to a dependency.`;

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
  const yours = await yourOptions(flags, around);
  const plan = planOf(flags, yours);
  const arms = armsOf(plan.concurrency, yours);
  const runs = await runsOf(plan, arms, around);
  const summaries = arms.map((arm, at) => summaryOf(arm, runs[at]!));
  const simulated: Simulated = {
    scenario: plan.scenario,
    premise: premise(plan),
    headline: headline(plan, summaries),
    arms: summaries,
    findings: examine(consumerPolicy(arms.at(-1)!.policy), {
      instances: plan.instances,
      degradedPerSecond: DEGRADED,
      clientTimeoutMs: CLIENT_TIMEOUT_MS,
    }),
  };
  // n.b. first what cannot fail: a report that cannot be written must not cost the answer.
  await present(simulated, simulateView, output, { now: around.now() }, { json, repeated: [] });
  if (flags.out !== undefined) {
    const { reportPage } = await import('./simulate/report-page.ts');
    await around.writeText(flags.out, pageOf(reportPage, plan, simulated, runs, flags));
    if (!json) say(output.stderr, `The report is in ${flags.out}.`);
  }
  return EXIT.ok;
}

function planOf(flags: SimulateFlags, yours: ConsumeOptions | undefined): Plan {
  const { scenario = 'outage', full = false, load = LOAD, instances = INSTANCES, seed = 1, seeds = SEEDS } = flags;
  return {
    scenario,
    troubleMs: full ? LONG_MS : SHORT_MS,
    perSecond: load,
    instances,
    concurrency: flags.concurrency ?? yours?.concurrency ?? CONCURRENCY,
    seed,
    seeds,
    tirelessSeeds: full ? 1 : seeds,
  };
}

/** `undefined` where none are given. Throws what `consume` would. */
async function yourOptions(flags: SimulateFlags, around: SimulateAround): Promise<ConsumeOptions | undefined> {
  const { maxAttempts, backoff, jitter, timeout, rateLimit, policy } = flags;
  const named = Object.entries({ maxAttempts, backoff, jitter, timeout, rateLimit }).filter(
    ([, value]) => value !== undefined,
  );
  if (policy === undefined && named.length === 0) return undefined;
  const written = policy === undefined ? {} : await readPolicy(policy, around);
  const options: ConsumeOptions = { ...written, ...consumeOptions(Object.fromEntries(named)) };
  consumerPolicy(options);
  // n.b. the handler is the model's: there is none that another process could load.
  const { isolate: _, ...simulated } = options;
  return simulated;
}

/** Throws LZ1301. */
async function readPolicy(file: string, { readText }: SimulateAround): Promise<object> {
  const policy = await parsed(file, readText);
  if (typeof policy === 'object' && policy !== null && !Array.isArray(policy)) return policy;
  throw refuse('LZ1301', `the policy '${file}' is no object.`, 'Write {"maxAttempts": 6}.');
}

async function parsed(file: string, readText: SimulateAround['readText']): Promise<unknown> {
  try {
    return JSON.parse(await readText(file));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw refuse('LZ1301', `the policy '${file}' cannot be read: ${why}.`, 'Write the options of a consumer as JSON.');
  }
}

/** For each arm its runs, one for each seed. */
async function runsOf(plan: Plan, arms: readonly Arm[], around: SimulateAround) {
  const run = around.runAll ?? (await import('./simulate/threads.ts')).runAll;
  const progress = await progressOn(around.output.stderr, 'runs', around.monotonic);
  const setups = arms.map((arm) => setupsOf(plan, arm));
  const all = setups.flat();
  try {
    const runs = [...(await run(all, (done) => progress.at(done, all.length)))];
    return setups.map(({ length }) => runs.splice(0, length));
  } finally {
    progress.end();
  }
}

function pageOf(
  page: typeof reportPage,
  plan: Plan,
  simulated: Simulated,
  runs: Awaited<ReturnType<typeof runsOf>>,
  flags: SimulateFlags,
): string {
  const { arms, headline, premise, findings } = simulated;
  return page({
    plan,
    headline,
    premise,
    findings,
    command: commandLine(flags),
    arms: arms.map((summary, at) => ({ summary, runs: runs[at]! })),
  });
}

/** What makes the same figures again: all that is not as by default, but for where they were written. */
function commandLine(flags: SimulateFlags): string {
  const { out: _, ...said } = flags;
  const words = Object.entries(said).flatMap(([name, value]) => {
    const { default: usual } = input.properties[name as keyof typeof said] as JsonSchema;
    if (value === usual) return [];
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? [flag] : [flag, String(value)];
  });
  return shellLine(['lazaret', 'simulate', ...words]);
}
