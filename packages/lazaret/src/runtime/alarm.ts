import type { Cancel, System } from '../ports/system.ts';

/**
 * One timer for many deadlines. `ring` does what is due at `now` and answers when it wants to be called next (monotonic ms, or Infinity).
 * Asking for a later time than the one set costs a comparison, so a message whose deadline never comes never meets a timer.
 */
export interface Alarm {
  by(at: number): void;
  stop(): void;
}

export function alarm(system: System, ring: (now: number) => number): Alarm {
  let setFor = Number.POSITIVE_INFINITY;
  let cancel: Cancel | undefined;

  const fire = () => {
    setFor = Number.POSITIVE_INFINITY;
    cancel = undefined;
    by(ring(system.monotonic()));
  };
  const by = (at: number) => {
    if (at >= setFor) return;
    cancel?.();
    setFor = at;
    cancel = system.after(Math.max(0, Math.ceil(at - system.monotonic())), fire);
  };

  return {
    by,
    stop() {
      cancel?.();
      cancel = undefined;
      setFor = Number.POSITIVE_INFINITY;
    },
  };
}
