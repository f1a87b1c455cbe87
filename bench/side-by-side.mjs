import { readFile } from 'node:fs/promises';
import { describeMachine } from './machine.mjs';
import { median } from './statistics.mjs';

/**
 * Measures contenders in alternating rounds, and prints machine, versions, medians with the least and the most, and the ratios of `over`
 * within each round. A contender: { name, prepare(), run() }; `run` handles `messages` of them, or its own number. CPU is this process's, of all its threads.
 */
export async function sideBySide({ title, versions, messages, rounds, contenders, over }) {
  const { cpu, cores, memoryGb, kernel, load } = await describeMachine();
  console.log(`${title}: ${messages} messages a round, ${rounds} alternating rounds`);
  console.log(
    `${cpu}, ${cores} cores, ${memoryGb} GB, ${kernel}, load ${load.toFixed(1)}; Node ${process.versions.node}, ${versions}\n`,
  );
  const results = contenders.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, contender] of contenders.entries())
      results[at].push(await measure(contender, contender.messages ?? messages));
  }
  for (const [at, { name }] of contenders.entries()) {
    const rate = spread(results[at].map((each) => each.rate));
    const cpuUs = spread(
      results[at].map((each) => each.cpuUs),
      1,
    );
    console.log(`${name.padEnd(38)} ${rate}/s   ${cpuUs} us`);
  }
  console.log();
  const indexOf = (name) => contenders.findIndex((contender) => contender.name === name);
  for (const [one, other, goal] of over) {
    const [ones, others] = [results[indexOf(one)], results[indexOf(other)]];
    console.log(
      `${one} / ${other}: ${spread(
        ones.map(({ rate }, round) => rate / others[round].rate),
        2,
      )}${goal === undefined ? '' : ` (goal ${goal})`}`,
    );
  }
}

/** As they are installed here. */
export async function versionsOf(...names) {
  const versions = names.map(async (name) => {
    for (const folder of ['node_modules', '../node_modules']) {
      const text = await readFile(new URL(`${folder}/${name}/package.json`, import.meta.url), 'utf8').catch(
        () => undefined,
      );
      if (text !== undefined) return `${name} ${JSON.parse(text).version}`;
    }
    return `${name} of unknown version`;
  });
  return (await Promise.all(versions)).join(', ');
}

async function measure({ prepare, run }, messages) {
  await prepare();
  const [cpu, at] = [process.cpuUsage(), performance.now()];
  await run();
  const ms = performance.now() - at;
  const { user, system } = process.cpuUsage(cpu);
  return { rate: (messages / ms) * 1_000, cpuUs: (user + system) / messages };
}

function spread(values, digits = 0) {
  const text = (value) => value.toFixed(digits);
  return `${text(median(values))} (${text(Math.min(...values))} to ${text(Math.max(...values))})`;
}
