import type { System } from 'lazaret';

/** Something that happens now and then, and that others wait for. */
export interface Pulse {
  beat(): void;
  /** Resolves with the next beat, or 'quiet' after `ms` without one. */
  next(ms: number): Promise<'beat' | 'quiet'>;
}

export function createPulse(system: Pick<System, 'after'>): Pulse {
  let waiting: (() => void)[] = [];
  return {
    beat() {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    next: (ms) =>
      new Promise((resolve) => {
        const cancel = system.after(ms, () => resolve('quiet'));
        waiting.push(() => {
          cancel();
          resolve('beat');
        });
      }),
  };
}
