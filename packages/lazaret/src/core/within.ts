/** What of the port `System` this needs. */
type Clock = { after(ms: number, run: () => void): () => void };

/** What `work` comes to, or the rejection of `late()` when that takes longer than `ms`: no answer of a server is waited for without end. */
export function within<T>(system: Clock, ms: number, work: Promise<T>, late: () => Error): Promise<T> {
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

/** Resolves after `ms`. */
export function pause(system: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void system.after(ms, resolve));
}
