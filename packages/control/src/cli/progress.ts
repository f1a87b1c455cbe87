import { say } from './present.ts';
import type { Sink } from './sink.ts';

/** How far long work has come, for whoever waits: a bar on a terminal, else now and then a line. Nothing at all for what is quick. */
export interface Progress {
  /** `total` is `undefined` where nobody knows it. */
  at(done: number, total: number | undefined, note?: string): void;
  end(): void;
}

/** Monotonic milliseconds. */
type Clock = () => number;

const QUICK_MS = 300;
const LINE_MS = 10_000;
const LINE_SHARE = 0.1;

export async function progressOn(stderr: Sink, unit: string, clock: Clock): Promise<Progress> {
  return stderr.terminal.interactive ? bar(stderr, unit, clock) : lines(stderr, unit, clock);
}

async function bar(stderr: Sink, unit: string, clock: Clock): Promise<Progress> {
  const { SingleBar } = await import('cli-progress');
  const startedAt = clock();
  let shown: InstanceType<typeof SingleBar> | undefined;
  const start = () => {
    const [full, empty] = stderr.terminal.unicode ? ['█', '░'] : ['#', '.'];
    shown = new SingleBar({
      format: `{bar} {percentage} %  {value}/{total} ${unit}  {note}`,
      barCompleteChar: full,
      barIncompleteChar: empty,
      barsize: 30,
      clearOnComplete: true,
      // n.b. it would switch the terminal's wrapping off, and a hard exit never on again.
      linewrap: true,
      // Signals are ours to handle.
      gracefulExit: false,
    });
    return shown;
  };
  return {
    at(done, total, note = '') {
      if (total === undefined || (shown === undefined && clock() - startedAt < QUICK_MS)) return;
      if (shown === undefined) start().start(total, done, { note });
      else shown.update(done, { note });
    },
    end: () => shown?.stop(),
  };
}

function lines(stderr: Sink, unit: string, clock: Clock): Progress {
  const due = milestones(clock);
  return {
    at(done, total, note = '') {
      if (due(done, total)) say(stderr, `${sentence(done, total, unit)}${note === '' ? '' : `, ${note}`}`);
    },
    end() {},
  };
}

/** Whether a line is due: each tenth of the whole, and every ten seconds, but none in the first moments. */
export function milestones(clock: Clock): (done: number, total: number | undefined) => boolean {
  const startedAt = clock();
  let saidAt = startedAt;
  let saidShare = 0;
  return (done, total) => {
    const now = clock();
    const share = total ? done / total : 0;
    const isDue = share - saidShare >= LINE_SHARE || now - saidAt >= LINE_MS;
    if (!isDue || now - startedAt < QUICK_MS) return false;
    saidAt = now;
    saidShare = share;
    return true;
  };
}

function sentence(done: number, total: number | undefined, unit: string): string {
  return total ? `${Math.floor((100 * done) / total)} %: ${done} of ${total} ${unit}` : `${done} ${unit}`;
}
