import { STRIKES } from '../../core/defaults.ts';
import type { LazaretError } from '../../core/errors.ts';
import type { IsolateOptions } from '../../core/options.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { ConsumerPolicy } from '../../core/policy.ts';
import { parseSize } from '../../core/size.ts';
import type { System } from '../../ports/system.ts';
import type { Keeper } from '../context.ts';
import type { Classifier, Performer } from '../inline.ts';
import type { Run } from '../run.ts';
import type { Ending, MemberSetup } from './member.ts';
import { LONGEST_START_MS, Member } from './member.ts';
import { othersAreSeen } from './memory-use.ts';
import { childFlags, refuseTooLittleMemory } from './node-flags.ts';
import { nodeProcesses } from './spawn.ts';
import { rebuildThrown } from './thrown.ts';

/** How often the memory of busy children is looked at. Between two looks a child may use more than it may. */
const WEIGH_EVERY_MS = 100;
/** A child that does not get ready is tried again after so long, and twice as long each further time. */
const FIRST_RESTART_MS = 1_000;
const LAST_RESTART_MS = 60_000;

/**
 * Runs the handler that `handler` exports (by default, or as `handler`) in child processes: at most `concurrency`, one message at a time
 * each, started when needed and used again, with the environment, directory and output of this process. A `schema` that the file exports
 * is held against each message before. What is thrown is classified here, by its words, codes and causes: its class stays behind.
 *
 * A child's death is a strike of the message that it ran, and of no other: it runs again at once, in a child that has run nothing
 * before, and is refused as `crash` after the second. An aborted handler is told so, and killed shortly after. No child outlives this
 * process by more than a moment, whatever ends it and whatever the child does.
 *
 * `memory` bounds a child's heap at once, and all that it uses (Linux: anonymous, shared and swapped pages; elsewhere: resident, as the
 * child reports it between two turns of its loop) by a look every 100 ms, so that for so long it can be passed. A hard bound of the whole
 * is a cgroup's work. Throws LZ1003 for less than 48mb.
 */
export function isolated(
  handler: URL,
  isolate: 'process' | IsolateOptions,
  policy: ConsumerPolicy,
  fail: Classifier,
  system: System,
): Performer {
  const { memory } = isolate === 'process' ? {} : isolate;
  const memoryBytes = memory === undefined ? undefined : parseSize(memory, 'isolate.memory');
  if (memoryBytes !== undefined) refuseTooLittleMemory(memoryBytes);
  const reportEveryMs = othersAreSeen ? undefined : WEIGH_EVERY_MS;
  const spawn = nodeProcesses(handler, childFlags(process.execArgv, memoryBytes), reportEveryMs, system);
  return new Pool({ handler, spawn, system, memoryBytes, size: policy.concurrency, fail });
}

export interface PoolSetup extends MemberSetup {
  readonly size: number;
  readonly fail: Classifier;
}

/** Needs a child. What is called first ends its waiting. */
interface Waiter {
  readonly fresh: boolean;
  serve(member: Member): void;
  turnAway(ending: Ending | NotStarted): void;
}

interface NotStarted {
  readonly kind: 'not-started';
  readonly error: LazaretError;
}

const ABORTED: Ending = { kind: 'aborted' };
const GIVEN_BACK: Outcome = { kind: 'givenBack', delayMs: 0, why: 'its handler was aborted' };

export class Pool implements Performer {
  readonly #setup: PoolSetup;
  readonly #members = new Set<Member>();
  /** In the order in which they came. */
  readonly #waiters = new Set<Waiter>();
  #failedStarts = 0;
  #weighing = false;
  #closed = false;

  constructor(setup: PoolSetup) {
    this.#setup = setup;
  }

  /** Loads the handler in a first child. Rejects with LZ1201, LZ1202 or LZ1205 where it cannot be had. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#wait({
        fresh: false,
        serve: () => resolve(),
        turnAway: (ending) => (ending.kind === 'not-started' ? reject(ending.error) : resolve()),
      });
    });
  }

  async perform(run: Run, keeper: Keeper): Promise<Outcome> {
    run.deaths = 0;
    for (;;) {
      const ending = await this.#performOnce(run, keeper);
      switch (ending.kind) {
        case 'answered':
          return this.#outcome(ending);
        case 'aborted':
          return GIVEN_BACK;
        case 'not-started':
          return { kind: 'givenBack', delayMs: this.#restartMs(), why: ending.error.message };
        case 'died':
          run.deaths++;
          if (run.deaths >= STRIKES.convictIsolated) return crashed(run.deaths, ending.why);
      }
    }
  }

  #performOnce(run: Run, keeper: Keeper): Promise<Ending | NotStarted> {
    return new Promise((resolve) => {
      const resumeDeadline = pauseDeadline(run, keeper, this.#setup.system);
      const waiter: Waiter = {
        fresh: run.deaths > 0,
        serve: (member) => {
          resumeDeadline();
          resolve(member.perform(run, keeper));
          this.#weighSoon();
        },
        turnAway: resolve,
      };
      // Comes to nothing once it was served: from then on its member listens.
      run.signal.addEventListener('abort', () => this.#turnAway(waiter, ABORTED), { once: true });
      if (run.aborted) this.#turnAway(waiter, ABORTED);
      else this.#wait(waiter);
    });
  }

  #outcome({ end }: Extract<Ending, { kind: 'answered' }>): Outcome {
    return end.kind === 'threw' ? { kind: 'failed', failure: this.#setup.fail(rebuildThrown(end.thrown)) } : end;
  }

  // --- who gets which child ---------------------------------------------------------------------------------------

  #wait(waiter: Waiter): void {
    this.#waiters.add(waiter);
    if (this.#closed) this.#turnAway(waiter, ABORTED);
    else this.#serve();
  }

  #turnAway(waiter: Waiter, ending: Ending | NotStarted): void {
    this.#waiters.delete(waiter);
    waiter.turnAway(ending);
  }

  /** Hands out what is free, and starts what is missing. */
  #serve(): void {
    const members = [...this.#members];
    for (const waiter of this.#waiters) {
      const free = members.find((member) => member.isFree(waiter.fresh));
      if (free === undefined) continue;
      this.#waiters.delete(waiter);
      waiter.serve(free);
    }
    let missing = this.#waiters.size - members.filter(({ starting }) => starting).length;
    while (missing-- > 0 && this.#hasRoom()) this.#start();
  }

  #hasRoom(): boolean {
    const counted = [...this.#members].filter(({ staying }) => staying);
    if (counted.length < this.#setup.size) return true;
    const expendable = counted.find((member) => member.expendable);
    expendable?.kill();
    return expendable !== undefined;
  }

  #start(): void {
    const member = new Member(this.#setup, {
      ready: () => {
        this.#failedStarts = 0;
        this.#serve();
      },
      free: () => this.#serve(),
      gone: () => {
        this.#members.delete(member);
        this.#serve();
      },
      failed: (error) => this.#startFailed(error),
    });
    this.#members.add(member);
  }

  /** One start was for one waiter. Who comes next tries again. */
  #startFailed(error: LazaretError): void {
    const [first] = this.#waiters;
    this.#failedStarts++;
    if (first !== undefined) this.#turnAway(first, { kind: 'not-started', error });
  }

  #restartMs(): number {
    return Math.min(FIRST_RESTART_MS * 2 ** (this.#failedStarts - 1), LAST_RESTART_MS);
  }

  // --- memory -----------------------------------------------------------------------------------------------------

  /** One timer for all, and only while somebody is busy. */
  #weighSoon(): void {
    if (this.#weighing) return;
    this.#weighing = true;
    this.#setup.system.after(WEIGH_EVERY_MS, () => {
      this.#weighing = false;
      for (const member of this.#members) {
        if (!member.busy) continue;
        member.weigh();
        this.#weighSoon();
      }
    });
  }

  /** Resolves when no child is left. What is still performed ends as given back. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiters) this.#turnAway(waiter, ABORTED);
    await Promise.all([...this.#members].map((member) => member.leave()));
  }
}

/**
 * The deadline is the handler's: what its process takes to start does not count. Answers what is to be called when the handler begins.
 */
function pauseDeadline(run: Run, keeper: Keeper, system: System): () => void {
  const leftMs = run.deadlineAt - system.monotonic();
  run.deadlineAt += 2 * LONGEST_START_MS;
  const alarmAt = system.monotonic() + leftMs;
  return () => {
    run.deadlineAt = system.monotonic() + leftMs;
    // The watch has looked in vain at the old time, and would look again at the paused one only.
    if (system.monotonic() >= alarmAt) void keeper.prolong(run, leftMs);
  };
}

function crashed(deaths: number, why: string): Outcome {
  return {
    kind: 'refused',
    reason: 'crash',
    why: `the process of its handler died ${deaths} times, the last time of ${why}`,
  };
}
