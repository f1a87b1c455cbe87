import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Campaign, runSeeds } from './campaign.ts';
import { drawScenario } from './draw-scenario.ts';
import { renderStory } from './render.ts';
import type { Scenario } from './scenario.ts';
import { shrink } from './shrink.ts';
import { happen, type Story } from './world.ts';

const USAGE = `One simulated world per seed: the runtime over the memory driver, under faults.

  --seed <n>             one world, with its whole timeline
  --scenario <file>      the same, from a scenario that --shrink printed
  --message <index>      only what concerns this message
  --shrink               a smaller world that breaks the same rule, with its scenario as JSON
  --from <n> --count <n> many worlds, and what was reached in them (default 1 and 300)
  --least <n>            every situation has to be reached in at least so many seeds (default 0)
  --hashes               the hash of every world
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    scenario: { type: 'string' },
    message: { type: 'string' },
    shrink: { type: 'boolean' },
    from: { type: 'string', default: '1' },
    count: { type: 'string', default: '300' },
    least: { type: 'string', default: '0' },
    hashes: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

const single = await scenarioOf();
if (values.help) console.log(USAGE);
else if (single === undefined) await many(Number(values.from), Number(values.count), Number(values.least));
else await one(single);

async function scenarioOf(): Promise<Scenario | undefined> {
  if (values.scenario !== undefined) return JSON.parse(await readFile(values.scenario, 'utf8')) as Scenario;
  return values.seed === undefined ? undefined : drawScenario(Number(values.seed));
}

async function one(scenario: Scenario): Promise<void> {
  const first = await happen(scenario);
  const story = values.shrink ? await shrink(first) : first;
  console.log(renderStory(story, values.message === undefined ? undefined : Number(values.message)));
  if (values.shrink) console.log(JSON.stringify(story.scenario));
  if (story.violations.length > 0) process.exitCode = 1;
}

async function many(from: number, count: number, least: number): Promise<void> {
  const before = process.cpuUsage();
  const campaign = await runSeeds(from, count, (story) => {
    if (values.hashes) console.log(`${story.scenario.seed} ${story.trace.hash}`);
    if (story.violations.length > 0) console.log(failureOf(story));
  });
  if (values.hashes) return;
  const { user, system } = process.cpuUsage(before);
  const { seeds, failed, steps, longestCalmMs } = campaign;
  for (const [situation, times] of campaign.reached) console.log(`${String(times).padStart(7)}  ${situation}`);
  const rare = rareOf(campaign, least);
  if (rare.length > 0) console.log(`reached in fewer than ${least} seeds: ${rare.join('; ')}`);
  const perSecond = Math.round(seeds / ((user + system) / 1e6));
  console.log(`${seeds} seeds, ${steps} steps, ${perSecond} seeds per second of one core`);
  console.log(`calm at most ${Math.round(longestCalmMs / 1000)} s after the last fault`);
  console.log(`${seeds - failed.length} passed, ${failed.length} failed`);
  if (failed.length > 0 || rare.length > 0) process.exitCode = 1;
}

function rareOf({ reached }: Campaign, least: number): readonly string[] {
  return [...reached].filter(([, times]) => times < least).map(([situation]) => situation);
}

/** What broke first, and the one command that shows it. */
function failureOf({ scenario, violations }: Story): string {
  const { invariant, what, rule } = violations[0]!;
  return `seed ${scenario.seed}: ${invariant} ${what}; but ${rule}\n  node ${process.argv[1]} --seed ${scenario.seed}`;
}
