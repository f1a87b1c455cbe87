import { versionsOf } from './bindings.mjs';
import { ROWS } from './rows/index.mjs';

/** One step of one measurement, in a process of its own: what ran before cannot help or harm it. */
const [step, setup] = [process.argv[2], JSON.parse(process.argv[3])];

if (step === 'versions') process.send(await versionsOf(setup.binding));
else {
  const row = ROWS.find(({ number }) => number === setup.row);
  const { open } = await import(`./contenders/${setup.contender}.mjs`);
  const contender = await open(setup);
  const answer = await row[step](contender, setup);
  await contender.close();
  process.send(answer ?? {});
}
