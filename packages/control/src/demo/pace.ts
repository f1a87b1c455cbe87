import type { System } from 'lazaret';

/** The time of the story: `speed` 4 plays it four times as fast. */
export interface Pace {
  readonly speed: number;
  /** Resolves after `ms` of the story; rejects with `Interrupted` when it is to end. */
  pause(ms: number): Promise<void>;
  /** Milliseconds of the story as a duration for the library. */
  duration(ms: number): string;
}

export class Interrupted extends Error {
  constructor() {
    super('the demo was interrupted');
    this.name = 'Interrupted';
  }
}

export function createPace(system: Pick<System, 'after'>, speed: number, stop: AbortSignal): Pace {
  return {
    speed,
    duration: (ms) => `${Math.max(1, Math.round(ms / speed))}ms`,
    pause: (ms) =>
      new Promise((resolve, reject) => {
        if (stop.aborted) {
          reject(new Interrupted());
          return;
        }
        const interrupt = () => {
          cancel();
          reject(new Interrupted());
        };
        const cancel = system.after(ms / speed, () => {
          stop.removeEventListener('abort', interrupt);
          resolve();
        });
        stop.addEventListener('abort', interrupt, { once: true });
      }),
  };
}
