import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A process that dies so often will not live the next time either. */
const MANY = 10;

/** Keeps a process running: whenever it dies, it starts it again. Whatever ends this process ends that one. */
export interface Supervisor {
  /** How often the process died without being told to. */
  readonly deaths: number;
  /** Stops the process in peace and starts it with other arguments. */
  replace(args: readonly string[]): Promise<void>;
  /** Stops the process in peace. */
  end(): Promise<void>;
}

export function supervise(module: URL, args: readonly string[]): Supervisor {
  let deaths = 0;
  let stopping = false;
  let child = start(args);
  process.once('exit', () => child.kill('SIGKILL'));

  function start(args: readonly string[]): ChildProcess {
    const started = fork(fileURLToPath(module), [...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    started.once('exit', () => {
      if (stopping || started !== child) return;
      deaths++;
      if (deaths < MANY) child = start(args);
    });
    return started;
  }

  const end = async () => {
    stopping = true;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    if (child.connected) child.disconnect();
    await gone;
  };

  return {
    get deaths() {
      return deaths;
    },
    async replace(args) {
      await end();
      stopping = false;
      child = start(args);
    },
    end,
  };
}
