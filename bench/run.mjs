import { writeFile } from 'node:fs/promises';
import { readArguments, USAGE } from './arguments.mjs';
import { judge } from './goals.mjs';
import { describeMachine } from './machine.mjs';
import { absolutes, goals, heading } from './report.mjs';
import { inChild, measureRound } from './rounds.mjs';

const options = readArguments(process.argv.slice(2));
if (options.help) console.log(USAGE);
else process.exitCode = await run(options);

/** 1 where something is worse than half of the raw loop of its own rounds. Rates alone never fail it. */
async function run({ rows, bindings, roundsOf, scale, nodes, json }) {
  const machine = await describeMachine();
  const results = [];
  for (const binding of bindings) {
    const versions = await inChild('versions', { binding }, nodes[binding]).catch(() => undefined);
    if (versions === undefined) {
      console.error(`${binding}: not there, not measured`);
      continue;
    }
    for (const row of rows) {
      const rounds = [];
      for (let i = 0; i < roundsOf(row); i++) {
        console.error(`${binding}, row ${row.number}, round ${i + 1} of ${roundsOf(row)}`);
        rounds.push(await measureRound(row, { binding, scale, nodes }));
      }
      const judged = row
        .goals(binding)
        .map((goal) => judge(goal, rounds))
        .filter((goal) => goal !== undefined);
      results.push({ row: row.number, title: row.title, binding, versions, rounds, goals: judged });
    }
  }
  console.log(heading(machine, results, scale));
  console.log(goals(results));
  console.log(absolutes(results));
  if (json !== undefined) await writeFile(json, JSON.stringify({ machine, scale, results }, undefined, 1));
  return results.some((result) => result.goals.some(({ failed }) => failed)) ? 1 : 0;
}
