import type { Cancel, System } from '../../ports/system.ts';
import type { Chance } from './chance.ts';
import { FIRST, type Happening, type VirtualTime } from './virtual-time.ts';

/** 14 November 2023, epoch milliseconds. */
const WORLD_BEGAN_AT = 1_700_000_000_000;

export interface VirtualSystemOptions {
  readonly time: VirtualTime;
  readonly chance: Chance;
  /** Part of every id. */
  readonly name: string;
  /** How far its wall clock is off. */
  readonly skewMs: number;
  /** Timers fire up to so much late, as in a busy process. */
  readonly latenessMs: number;
  /** Its turns end before anything else of the instant happens. */
  readonly prompt?: true;
}

/** What a stopped process finds when it goes on. */
type Kind = 'timer' | 'arrival' | 'turn';

/** The System of one simulated process: its own clocks, chance and timers. It can stand still, go on, and end. */
export class VirtualSystem implements System {
  readonly #options: VirtualSystemOptions;
  readonly #bootedAt: number;
  /** Timers that are armed. */
  #armed = 0;
  #ids = 0;
  #state: 'running' | 'paused' | 'ended' = 'running';
  #missed: { readonly kind: Kind; readonly run: () => void }[] = [];
  /** Arrivals that were missed and happen at this instant. */
  #catchingUp = 0;

  constructor(options: VirtualSystemOptions) {
    this.#options = options;
    this.#bootedAt = options.time.now - 1;
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get hasEnded(): boolean {
    return this.#state === 'ended';
  }

  /** Timers that are armed: 0 after everything was closed, else something leaks. */
  get pending(): number {
    return this.#armed;
  }

  // --- the port ---------------------------------------------------------------------------------------------------

  now(): number {
    return Math.floor(WORLD_BEGAN_AT + this.#options.time.now + this.#options.skewMs);
  }

  monotonic(): number {
    return this.#options.time.now - this.#bootedAt;
  }

  random(): number {
    return this.#options.chance.next();
  }

  id(): string {
    return `${this.#options.name}-${++this.#ids}`;
  }

  after(ms: number, run: () => void): Cancel {
    if (this.#state === 'ended') return () => undefined;
    this.#armed++;
    return this.#plan(
      ms,
      () => {
        this.#armed--;
        run();
      },
      () => {
        this.#armed--;
      },
    );
  }

  stayAlive(): Cancel {
    return () => undefined;
  }

  turn(run: () => void): void {
    const { time, prompt } = this.#options;
    time.at(time.now, () => this.#do('turn', run), prompt ? FIRST : undefined);
  }

  // --- what only the world may do ---------------------------------------------------------------------------------

  /** A timer that does not count as the library's. */
  wait(ms: number, run: () => void): Cancel {
    return this.#plan(ms, run, () => undefined);
  }

  /** Something comes to the process from outside; it notices when it runs. */
  arrive(run: () => void): void {
    if (this.#catchingUp === 0) this.#do('arrival', run);
    else this.#catchUp('arrival', run);
  }

  /** Timers, arrivals and turns stand still; the clocks go on. */
  pause(): void {
    if (this.#state === 'running') this.#state = 'paused';
  }

  /** What was missed happens now: timers before or after arrivals, as a real loop may have been stopped before either. */
  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'running';
    const order: readonly Kind[] = this.#options.chance.hit(0.5)
      ? ['timer', 'arrival', 'turn']
      : ['arrival', 'turn', 'timer'];
    const missed = this.#missed.splice(0);
    for (const kind of order) {
      for (const one of missed) if (one.kind === kind) this.#catchUp(kind, one.run);
    }
  }

  end(): void {
    this.#state = 'ended';
    this.#missed = [];
    this.#armed = 0;
  }

  #plan(ms: number, run: () => void, cancelled: () => void): Cancel {
    const { time, chance, latenessMs } = this.#options;
    const lateMs = latenessMs === 0 ? 0 : chance.next() * latenessMs;
    let state: 'waiting' | 'over' = 'waiting';
    const fire = () => {
      if (state === 'over') return;
      state = 'over';
      run();
    };
    const happening: Happening = time.in(Math.max(0, ms) + lateMs, () => this.#do('timer', fire));
    return () => {
      if (state === 'over' || this.#state === 'ended') return;
      state = 'over';
      happening.run = undefined;
      cancelled();
    };
  }

  #catchUp(kind: Kind, run: () => void): void {
    const { time } = this.#options;
    if (kind === 'arrival') this.#catchingUp++;
    time.at(
      time.now,
      () => {
        if (kind === 'arrival') this.#catchingUp--;
        this.#do(kind, run);
      },
      FIRST,
    );
  }

  #do(kind: Kind, run: () => void): void {
    if (this.#state === 'running') run();
    else if (this.#state === 'paused') this.#missed.push({ kind, run });
  }
}
