import { type App, type Broker, type Handler, type Logger, lazaret, type QueueOptions, type System } from 'lazaret';
import { feed, inQueue } from './feed.ts';
import { leftOpen } from './left-open.ts';
import { checkLine } from './line-check.ts';
import { type LineNames, lineNames } from './line-names.ts';
import { linesOf } from './lines.ts';
import { createPulse, type Pulse } from './pulse.ts';
import { refuseOthers } from './refuse-others.ts';
import { type RunSummary, Tally } from './tally.ts';

export interface RunSetup {
  /** What the lines are called after. */
  readonly input: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly queue: string;
  readonly handler: Handler;
  readonly options: QueueOptions<unknown>;
  /** Stays open. */
  readonly broker: Broker;
  /** The broker's file outlives the run: lines that were sent into it before are not sent again. */
  readonly remembers: boolean;
  readonly system: System;
  readonly logger: Logger;
  /** Ends the run early: what runs is finished, what waits stays in the queue. */
  readonly stop: AbortSignal;
  /** Called now and then: how much of the input has been read, and how many lines are under way. */
  progress(bytesRead: number, underWay: number): void;
}

export interface RunResult {
  readonly summary: RunSummary;
  /** What ended it early, other than `stop`. */
  readonly problem?: unknown;
}

const LOOK_MS = 200;

/** Feeds lines to a handler through a queue, as a service would get them, and counts what becomes of each. */
export async function run(setup: RunSetup): Promise<RunResult> {
  const { queue, broker, system, stop } = setup;
  const startedAt = system.monotonic();
  const names = lineNames(setup.input);
  const tally = new Tally(names);
  const pulse = createPulse(system);
  if (setup.remembers) await refuseOthers(broker, queue, names);
  const app = consumer(setup, names, tally, pulse);
  await app.start();
  stop.addEventListener('abort', pulse.beat, { once: true });
  const problem = await attempt(async () => {
    const progress = () => setup.progress(tally.bytesRead, tally.open);
    await feed({ ...setup, input: linesOf(setup.chunks), names, tally, pulse, progress });
    await untilConcluded(setup, tally, pulse, progress);
  });
  await app.stop();
  const facts = await broker.inspect(queue);
  const summary = tally.summary({
    input: setup.input,
    queue,
    complete: problem === undefined && !stop.aborted,
    inQueue: inQueue(facts),
    open: facts.dead ?? 0,
    ms: Math.round(system.monotonic() - startedAt),
  });
  return problem === undefined ? { summary } : { summary, problem: problem.thrown };
}

function consumer(setup: RunSetup, names: LineNames, tally: Tally, pulse: Pulse): App {
  const { queue, handler, options, system, logger } = setup;
  const app = lazaret({
    broker: { name: setup.broker.name, connect: async () => leftOpen(setup.broker) },
    system,
    logger,
  });
  // n.b. what protects a quarantine from a flood would wait for ever for the end of a file in which most lines are bad, and here somebody watches.
  const storm = { without: ['fuse', 'systemic'] } as const;
  app.consume(queue, { ...options, storm }, (message, context) => {
    const line = names.numberOf(message.id);
    if (line !== undefined) checkLine(message, line);
    return handler(message, context);
  });
  app.on('retrying', ({ id }) => tally.retrying(id));
  // A failure that is not the message's own is given back, after a wait.
  app.on('released', ({ id, delayMs }) => {
    if (delayMs > 0) tally.retrying(id);
  });
  app.on('done', ({ id, skipped }) => {
    tally.done(id, skipped !== undefined);
    pulse.beat();
  });
  app.on('quarantined', ({ id, ...evidence }) => {
    tally.quarantined(id, evidence);
    pulse.beat();
  });
  return app;
}

/** Either each line has been heard of, or the queue is empty: then the others were sent by an earlier run. */
async function untilConcluded(
  { broker, queue, stop }: RunSetup,
  tally: Tally,
  pulse: Pulse,
  progress: () => void,
): Promise<void> {
  while (tally.open > 0 && !stop.aborted) {
    const quiet = (await pulse.next(LOOK_MS)) === 'quiet';
    if (quiet && inQueue(await broker.inspect(queue)) === 0) return;
    progress();
  }
}

async function attempt(act: () => Promise<void>): Promise<{ readonly thrown: unknown } | undefined> {
  try {
    await act();
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}
