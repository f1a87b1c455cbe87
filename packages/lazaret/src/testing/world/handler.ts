import { Poison, Transient } from '../../core/failures.ts';
import type { BatchHandler } from '../../runtime/batch.ts';
import type { Context } from '../../runtime/context.ts';
import type { Handler } from '../../runtime/inline.ts';
import type { ReceivedMessage } from '../../runtime/received.ts';
import type { Life, Run } from './ledger.ts';
import type { Deed } from './scenario.ts';

/** What a handler needs of the process around it. */
export interface Ground {
  began(message: ReceivedMessage, ctx: Context): Run;
  ended(run: Run, how: 'worked' | 'skipped' | 'failed' | 'aborted'): void;
  extended(run: Run, ms: number): void;
  /** Resolves after `ms`; rejects with the signal's reason where it aborts first. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** The process dies, now. */
  crash(run: Run): void;
}

/** n.b. a fresh one each time: whoever waits for a promise is remembered by it. */
const never = (): Promise<never> => new Promise(() => undefined);

/** Does with each message what its script says. */
export function scripted(ground: Ground): Handler {
  return async (message, ctx) => {
    const run = ground.began(message, ctx);
    const { life } = run.handOut;
    const deed = deedOf(life, run);
    await spend(ground, run, ctx, [run]);
    if (deed === 'crash') ground.crash(run);
    if (deed === 'crash' || deed === 'hang') return never();
    perform(ground, run, deed, ctx);
    return undefined;
  };
}

/** The same for many at once: it takes as long as the longest, and whoever kills or hangs takes the others along. */
export function scriptedBatch(ground: Ground): BatchHandler {
  return async (messages, batch) => {
    const members = messages.map((message) => {
      const ctx = batch.of(message);
      const run = ground.began(message, ctx);
      return { message, ctx, run, deed: deedOf(run.handOut.life, run) };
    });
    const longest = members.reduce((a, b) => (durationOf(b.run) > durationOf(a.run) ? b : a));
    await spend(
      ground,
      longest.run,
      longest.ctx,
      members.map(({ run }) => run),
    );
    const killer = members.find(({ deed }) => deed === 'crash');
    if (killer !== undefined) ground.crash(killer.run);
    if (killer !== undefined || members.some(({ deed }) => deed === 'hang')) return never();
    for (const { message, ctx, run, deed } of members) {
      try {
        perform(ground, run, deed, ctx);
      } catch (thrown) {
        batch.fail(message, thrown);
      }
    }
    return undefined;
  };
}

/** What a message does on this run; later it works. */
function deedOf(life: Life, run: Run): Deed {
  const { does, times } = life.plan.script;
  if (life.isMended) return 'work';
  const before = life.runs.length - 1;
  const failures = life.runs.filter(({ end }) => end?.how === 'failed').length;
  switch (does) {
    case 'fail':
    case 'fail transiently':
    case 'ask for a retry':
      return failures < times ? does : 'work';
    case 'hang':
    case 'overrun':
      return before < times ? does : 'work';
    default:
      return run.handOut.life.plan.script.does;
  }
}

function durationOf({ handOut: { life } }: Run): number {
  return life.isMended ? 0 : life.plan.script.durationMs;
}

/** What aborts one ends all that are `together` with it. */
async function spend(ground: Ground, run: Run, ctx: Context, together: readonly Run[]): Promise<void> {
  const { heeds, extendMs } = run.handOut.life.plan.script;
  const durationMs = durationOf(run);
  if (durationMs === 0) return;
  try {
    if (extendMs === 0) await ground.sleep(durationMs, heeds ? ctx.signal : undefined);
    else {
      await ground.sleep(durationMs / 2, heeds ? ctx.signal : undefined);
      ground.extended(run, extendMs);
      await ctx.extend(`${extendMs}ms`);
      await ground.sleep(durationMs / 2, heeds ? ctx.signal : undefined);
    }
  } catch (reason) {
    for (const one of together) ground.ended(one, 'aborted');
    throw reason;
  }
}

function perform(ground: Ground, run: Run, deed: Deed, ctx: Context): void {
  const { id } = run.handOut.life;
  switch (deed) {
    case 'fail':
      ground.ended(run, 'failed');
      throw new Error(`${id} fails`);
    case 'fail transiently':
      ground.ended(run, 'failed');
      throw new Transient(`the dependency of ${id} is away`);
    case 'poison':
      ground.ended(run, 'failed');
      throw new Poison(`${id} is poison`);
    case 'ask for a retry':
      ground.ended(run, 'failed');
      ctx.retryIn('700ms', 'not ready');
      return;
    case 'quarantine':
      ground.ended(run, 'failed');
      ctx.quarantine('a person should look');
      return;
    case 'skip':
      ground.ended(run, 'skipped');
      ctx.skip('not wanted');
      return;
    default:
      ground.ended(run, 'worked');
  }
}
