/** Ends what it was given for; calling it twice is harmless. */
export type Cancel = () => void;

/** Handed to every driver, store and runtime: the only source of time, chance and timers. */
export interface System {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Milliseconds that never run backwards; for deadlines inside this process. */
  monotonic(): number;
  /** Uniform in [0, 1). */
  random(): number;
  /** A fresh id, sortable by time. */
  id(): string;
  /** Runs `run` once after `ms`, however long that is (waits beyond 2^31-1 ms are re-armed). Does not keep the process alive by itself. */
  after(ms: number, run: () => void): Cancel;
  /** Keeps the process alive until it is cancelled, as an open socket would: a consumer that waits for messages has work. */
  stayAlive(): Cancel;
  /** Runs `run` at the end of this loop turn, after what is ready has run. */
  turn(run: () => void): void;
}
