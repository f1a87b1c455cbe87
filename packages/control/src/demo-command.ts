import { join } from 'node:path';
import type { System } from 'lazaret';
import type { SqliteBroker } from 'lazaret/sqlite';
import type { CommandSpec, Globals } from './cli/command-spec.ts';
import { EXIT, type ExitCode } from './cli/exit-code.ts';
import { say, writeDocument } from './cli/present.ts';
import { shellLine } from './cli/shell-line.ts';
import type { Output } from './cli/sink.ts';
import type { Ending } from './demo/story.ts';
import { endStage, SILENT_STAGE, textStage } from './demo-stage.ts';
import type { Static } from './operations/operation.ts';

const input = {
  type: 'object',
  properties: {
    headless: { type: 'boolean', description: 'plain text, at four times the speed; so it is also in a pipe' },
    speed: { type: 'integer', minimum: 1, maximum: 10, description: 'play it so many times as fast' },
    keep: { type: 'boolean', description: 'keep the database, to look into it afterwards' },
  },
  additionalProperties: false,
} as const;

type DemoFlags = Static<typeof input>;

export interface DemoAround {
  readonly output: Output;
  /** Aborted by the first Ctrl-C. */
  stopSignal(): AbortSignal;
  /** Gone with the process, unless it is kept. */
  folder(keep: boolean): string;
  openBroker(file: string): Promise<{ readonly broker: SqliteBroker; readonly system: System }>;
}

const SPEED = 1;
const HEADLESS_SPEED = 4;

const HELP = `In about 40 seconds: a bad deploy, an outage, a message that kills its process, and the way out of it, on SQLite in a
temporary folder. At the end every message is looked for, in a ledger that the queues know nothing of; exit 1 when one is not
where it should be.`;

export function demoCommand(around: DemoAround): CommandSpec {
  return {
    name: 'demo',
    summary: 'See it work: failures of every kind, and every message accounted for',
    input,
    help: HELP,
    act: (flags, globals) => act(flags as DemoFlags, globals, around),
  };
}

async function act(flags: DemoFlags, { json }: Globals, around: DemoAround): Promise<ExitCode> {
  const { stdout } = around.output;
  const [{ tell }, { createPace, Interrupted }] = await Promise.all([
    import('./demo/story.ts'),
    import('./demo/pace.ts'),
  ]);
  const stop = around.stopSignal();
  const folder = around.folder(flags.keep === true);
  const db = join(folder, 'demo.db');
  const { broker, system } = await around.openBroker(db);
  const isLive = stdout.terminal.interactive && flags.headless !== true;
  const speed = flags.speed ?? (isLive ? SPEED : HEADLESS_SPEED);
  const plain = { ...stdout, terminal: { ...stdout.terminal, interactive: isLive } };
  const stage = json ? SILENT_STAGE : textStage(plain);
  stage.title(
    `Lazaret demo: a shop with three queues in one SQLite file, ${speed === 1 ? 'in real time' : `${speed} times as fast`}`,
  );
  try {
    const ending = await tell({
      db,
      ledgerFile: join(folder, 'ledger.txt'),
      broker,
      system,
      pace: createPace(system, speed, stop),
      stage,
    });
    if (json) writeDocument(stdout, documentOf(ending));
    else sayGoodbye(ending, flags.keep === true ? db : undefined, around.output);
    return ending.claims.every(({ holds }) => holds) ? EXIT.ok : EXIT.failed;
  } catch (thrown) {
    if (!(thrown instanceof Interrupted)) throw thrown;
    if (!json) endStage(plain, 'Interrupted. Nothing is left behind.');
    return EXIT.interrupted;
  } finally {
    await broker.close();
  }
}

function documentOf({ claims, account }: Ending): object {
  return {
    schema: 'lazaret/demo@1',
    ok: claims.every(({ holds }) => holds),
    claims,
    account: { ...account, missing: [...account.missing], twice: [...account.twice] },
  };
}

function sayGoodbye({ claims }: Ending, kept: string | undefined, { stdout, stderr }: Output): void {
  const wrong = claims.filter(({ holds }) => !holds).length;
  stdout.write('\n');
  say(
    stdout,
    wrong === 0 ? 'All of it is as claimed.' : `${wrong} of ${claims.length} claims do not hold. Please report this.`,
  );
  if (kept === undefined) {
    say(stderr, `Next: ${shellLine(['lazaret', 'demo', '--keep'])}   keeps the database, to look into it`);
    return;
  }
  for (const words of [
    ['queues', 'ls'],
    ['messages', 'ls'],
    ['messages', 'show', 'order-broken'],
    ['queues', 'explain', 'orders'],
  ]) {
    say(stderr, `Next: ${shellLine(['lazaret', ...words, '--db', kept])}`);
  }
}
