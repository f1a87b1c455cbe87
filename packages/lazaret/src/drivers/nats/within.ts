import type { System } from '../../ports/system.ts';

/** What `work` comes to, or the rejection of `late()` when that takes longer than `ms`: no answer of a server is waited for without end. */
export function within<T>(system: System, ms: number, work: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = system.after(ms, () => reject(late()));
    work.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}
