import type { ErrorCode } from '../../core/errors.ts';
import { isLazaretError, LazaretError } from '../../core/errors.ts';
import { formatSize } from '../../core/size.ts';
import type { Cancel, System } from '../../ports/system.ts';
import { asError } from '../as-error.ts';
import type { Keeper } from '../context.ts';
import type { Run } from '../run.ts';
import type { End, Reply, SentDelivery } from './protocol.ts';
import type { Spawn, Spawned } from './spawn.ts';
import { rebuildThrown } from './thrown.ts';

/** How a run in a child came to its end. */
export type Ending =
  | { readonly kind: 'answered'; readonly end: End }
  /** The child died of it. `why` is for people. */
  | { readonly kind: 'died'; readonly why: string }
  /** However its handler ended: nobody asks any more. */
  | { readonly kind: 'aborted' };

export interface MemberSetup {
  readonly handler: URL;
  readonly spawn: Spawn;
  readonly system: System;
  readonly memoryBytes: number | undefined;
}

export interface MemberSeen {
  ready(): void;
  free(): void;
  gone(): void;
  /** It is gone and was never ready: no message's doing. */
  failed(error: LazaretError): void;
}

interface Job {
  readonly number: number;
  readonly run: Run;
  readonly keeper: Keeper;
  end(ending: Ending): void;
  aborted: boolean;
  usedBytes: number | undefined;
  lastWords: string | undefined;
}

/** What loading a handler may take. */
export const LONGEST_START_MS = 30_000;
/** What an aborted handler, or a child that is asked to exit, gets before it is killed. */
export const GRACE_MS = 200;

const MB: number = 1024 ** 2;

/** One child of a pool: loads the handler, performs one run at a time, ends. */
export class Member {
  #state: 'starting' | 'idle' | 'busy' | 'leaving' | 'gone' = 'starting';
  readonly #setup: MemberSetup;
  readonly #seen: MemberSeen;
  readonly #process: Spawned;
  #startError: LazaretError | undefined;
  #wasReady = false;
  #job: Job | undefined;
  /** How many it has begun. */
  #jobs = 0;
  /** Ends a start or a grace that lasts too long. */
  #cancelKill: Cancel | undefined;
  /** What it was killed for, where it is to blame. */
  #fault: string | undefined;
  #whenGone: (() => void)[] = [];

  constructor(setup: MemberSetup, seen: MemberSeen) {
    this.#setup = setup;
    this.#seen = seen;
    this.#process = setup.spawn({ replied: (reply) => this.#replied(reply), ended: (how) => this.#ended(how) });
    this.#killAfter(LONGEST_START_MS, () => {
      this.#unloadable(`it has not finished after ${LONGEST_START_MS / 1000} s`);
    });
  }

  get starting(): boolean {
    return this.#state === 'starting';
  }

  get busy(): boolean {
    return this.#state === 'busy';
  }

  /** `false` as soon as it was killed or asked to exit: it takes nobody's place any more. */
  get staying(): boolean {
    return this.#state !== 'leaving' && this.#state !== 'gone';
  }

  /** Nobody would miss it: it idles, or only an aborted handler runs in it. */
  get expendable(): boolean {
    return this.#state === 'idle' || (this.#state === 'busy' && this.#job!.aborted);
  }

  /** `fresh`: nothing was performed in it before, so that whatever kills it is the doing of what it performs. */
  isFree(fresh: boolean): boolean {
    return this.#state === 'idle' && !(fresh && this.#jobs > 0);
  }

  // --- starting ---------------------------------------------------------------------------------------------------

  #ready(): void {
    this.#cancelKill?.();
    this.#wasReady = true;
    this.#idle();
    this.#seen.ready();
  }

  #unloadable(what: string, cause?: unknown): void {
    this.#startError = this.#handlerError(
      'LZ1201',
      `does not load: ${what}.`,
      'Load it by hand with node to see more.',
      cause,
    );
    this.kill();
  }

  #unfit(): void {
    const what = "exports no function, neither by default nor as 'handler'.";
    this.#startError = this.#handlerError('LZ1202', what, 'Write export default async (msg, ctx) => { … }.');
    this.kill();
  }

  #handlerError(code: ErrorCode, what: string, hint: string, cause?: unknown): LazaretError {
    return new LazaretError(code, `the handler file '${this.#setup.handler.href}' ${what}`, { hint, cause });
  }

  // --- performing -------------------------------------------------------------------------------------------------

  /** Only while it is free. Never rejects. */
  perform(run: Run, keeper: Keeper): Promise<Ending> {
    return new Promise((resolve) => {
      const { signal } = run;
      const abort = () => this.#abort(job, asError(signal.reason));
      const end = (ending: Ending) => {
        signal.removeEventListener('abort', abort);
        resolve(job.aborted ? { kind: 'aborted' } : ending);
      };
      const number = ++this.#jobs;
      const job: Job = { number, run, keeper, end, aborted: false, usedBytes: undefined, lastWords: undefined };
      signal.addEventListener('abort', abort, { once: true });
      this.#begin(job);
    });
  }

  #begin(job: Job): void {
    this.#state = 'busy';
    this.#job = job;
    this.#process.ref();
    this.#process.tell({ kind: 'perform', job: job.number, delivery: sent(job.run) });
  }

  #abort(job: Job, reason: Error): void {
    job.aborted = true;
    const code = isLazaretError(reason) ? reason.code : 'LZ1207';
    this.#process.tell({ kind: 'abort', job: job.number, code, message: reason.message });
    this.#killAfter(GRACE_MS, () => this.kill());
  }

  #end(job: Job, ending: Ending): void {
    this.#cancelKill?.();
    this.#job = undefined;
    job.end(ending);
  }

  #idle(): void {
    this.#state = 'idle';
    this.#process.unref();
  }

  /** Takes note of what a busy one uses, and kills it for using more than it may. */
  weigh(): void {
    const { memoryBytes } = this.#setup;
    const job = this.#job;
    const usedBytes = this.#process.memory();
    if (job === undefined || usedBytes === undefined) return;
    job.usedBytes = usedBytes;
    if (memoryBytes !== undefined && usedBytes > memoryBytes) this.#blame('passing its memory limit');
  }

  // --- what it says -----------------------------------------------------------------------------------------------

  #replied(reply: Reply): void {
    if (!this.staying) return;
    switch (reply.kind) {
      case 'ready':
        if (this.starting) this.#ready();
        else this.#blame('getting ready twice');
        break;
      case 'unfit':
        this.#unfit();
        break;
      case 'unloadable': {
        const cause = rebuildThrown(reply.thrown);
        this.#unloadable(asError(cause).message, cause);
        break;
      }
      case 'ended':
        if (this.#job?.number === reply.job) this.#answered(this.#job, reply.end);
        else this.#blame('answering for another message');
        break;
      case 'extend':
        if (this.#job?.number === reply.job) this.#extend(this.#job, reply.ask, reply.ms);
        else this.#blame('asking for another message');
        break;
      case 'needs':
        if (this.#job?.number === reply.job) this.#job.keeper.need(this.#job.run, reply.dependency);
        else this.#blame('asking for another message');
        break;
      case 'dying':
        if (this.#job !== undefined) this.#job.lastWords = reply.of;
    }
  }

  #answered(job: Job, end: End): void {
    this.#idle();
    this.#end(job, { kind: 'answered', end });
    this.#seen.free();
  }

  #extend({ run, keeper, aborted }: Job, ask: number, ms: number): void {
    const answer = (ours: boolean) => this.#process.tell({ kind: 'extended', ask, ours });
    if (aborted) answer(false);
    else keeper.prolong(run, ms).then(answer, () => answer(false));
  }

  // --- ending -----------------------------------------------------------------------------------------------------

  #blame(fault: string): void {
    this.#fault = fault;
    this.kill();
  }

  kill(): void {
    if (this.#state === 'gone') return;
    this.#state = 'leaving';
    this.#process.kill();
  }

  /** Asks it to exit if it idles, kills it otherwise. Resolves when it is gone. */
  leave(): Promise<void> {
    if (this.#state === 'gone') return Promise.resolve();
    if (this.#state === 'idle') {
      this.#state = 'leaving';
      this.#process.ref();
      this.#process.dismiss();
      this.#killAfter(GRACE_MS, () => this.kill());
    } else this.kill();
    return new Promise((resolve) => this.#whenGone.push(resolve));
  }

  #killAfter(ms: number, kill: () => void): void {
    this.#cancelKill?.();
    this.#cancelKill = this.#setup.system.after(ms, kill);
  }

  #ended(how: string): void {
    this.#cancelKill?.();
    this.#state = 'gone';
    if (this.#job !== undefined) this.#end(this.#job, { kind: 'died', why: this.#obituary(this.#job, how) });
    if (!this.#wasReady) {
      const died = `has no process: it ended before it was ready, with ${how}.`;
      const hint = 'Load it by hand with node to see more.';
      this.#seen.failed(this.#startError ?? this.#handlerError('LZ1205', died, hint));
    }
    this.#seen.gone();
    for (const resolve of this.#whenGone) resolve();
  }

  /** 'signal SIGKILL for passing its memory limit, having used 91mb of at most 64mb' */
  #obituary({ usedBytes, lastWords }: Job, how: string): string {
    const { memoryBytes } = this.#setup;
    const because = this.#fault === undefined ? '' : ` for ${this.#fault}`;
    const words = lastWords === undefined ? '' : ` after ${lastWords}`;
    const used = usedBytes === undefined ? '' : `, having used ${inMb(usedBytes)}`;
    const limit = usedBytes === undefined || memoryBytes === undefined ? '' : ` of at most ${formatSize(memoryBytes)}`;
    return `${how}${because}${words}${used}${limit}`;
  }
}

function sent({ delivery, deaths }: Run): SentDelivery {
  const { message, source, attempt, strikes, firstSeenAt } = delivery;
  const { native: _, ...seen } = message;
  return { message: seen, source, attempt, strikes: (strikes ?? 0) + deaths, firstSeenAt };
}

function inMb(bytes: number): string {
  return formatSize(Math.round(bytes / MB) * MB);
}
