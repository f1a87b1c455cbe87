import type { Cancel, System } from '../ports/system.ts';

/** Waits for `work`, but not beyond `endAt` (monotonic ms). `false`: it was late. Rejects with `work`. */
export async function until(system: System, endAt: number, work: Promise<unknown>): Promise<boolean> {
  let cancel: Cancel | undefined;
  const late = new Promise<boolean>((resolve) => {
    cancel = system.after(Math.max(0, endAt - system.monotonic()), () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    cancel?.();
  }
}
