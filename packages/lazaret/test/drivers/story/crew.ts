import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('./worker.mjs', import.meta.url));

/** As a worker ends that cannot start. */
const FOUND_NO_SERVER = 7;

export interface Line {
  readonly what: string;
  readonly id: string;
  readonly extra: string;
}

/** Workers on one queue, each a process that is started again when it dies, and the log of what they did. */
export class Crew {
  readonly #folder = mkdtempSync(join(tmpdir(), 'lazaret-crew-'));
  readonly #log: string = join(this.#folder, 'effects.log');
  readonly #worker: string;
  readonly #setup: string;
  readonly #living = new Set<ChildProcess>();
  readonly #falls: string[] = [];
  #isOver = false;

  /** `worker` is what each process runs, where it needs more than an address to reach its broker. */
  constructor(url: string, queue: string, options: object, app: object = {}, worker: string = WORKER) {
    this.#worker = worker;
    writeFileSync(this.#log, '');
    this.#setup = JSON.stringify({ url, queue, log: this.#log, app, options });
  }

  start(workers: number): void {
    for (let n = 0; n < workers; n++) this.#spawn();
  }

  #spawn(): void {
    if (this.#isOver) return;
    const child = spawn(process.execPath, [this.#worker, this.#setup], { stdio: ['ignore', 'ignore', 'inherit'] });
    this.#living.add(child);
    child.once('exit', (code, signal) => {
      this.#living.delete(child);
      if (signal !== 'SIGKILL' && code !== 0 && code !== FOUND_NO_SERVER)
        this.#falls.push(`exit code ${code}, signal ${signal}`);
      this.#spawn();
    });
  }

  /** One of them, at random. */
  killOne(): void {
    const all = [...this.#living];
    all[Math.floor(Math.random() * all.length)]?.kill('SIGKILL');
  }

  /** Workers that ended in a way that nobody made them end. */
  get falls(): readonly string[] {
    return this.#falls;
  }

  /** How often each id came to its end. */
  ends(): ReadonlyMap<string, number> {
    const ends = new Map<string, number>();
    for (const { what, id } of this.lines()) if (what === 'end') ends.set(id, (ends.get(id) ?? 0) + 1);
    return ends;
  }

  lines(): readonly Line[] {
    return readFileSync(this.#log, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [what = '', id = '', , ...extra] = line.split(' ');
        return { what, id, extra: extra.join(' ') };
      });
  }

  idsOf(what: string): ReadonlySet<string> {
    return new Set(
      this.lines()
        .filter((line) => line.what === what)
        .map(({ id }) => id),
    );
  }

  async end(): Promise<void> {
    this.#isOver = true;
    const living = [...this.#living];
    await Promise.all(
      living.map(async (child) => {
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        await gone;
      }),
    );
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
