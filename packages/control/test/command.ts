import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const REPOSITORY: string = fileURLToPath(new URL('../../..', import.meta.url));
const BIN = fileURLToPath(new URL('../bin/lazaret.js', import.meta.url));

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What it wrote to stdout, byte for byte. */
  readonly bytes: Buffer;
}

export interface Spawned {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when stderr has said `text`; rejects when it ends without. */
  said(text: string): Promise<void>;
}

/** A folder for one file of tests. Commands run in it, and have their temporary files in it too. */
export function workshop(): { readonly folder: string; readonly temporary: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-test-'));
  // A handler imports the library from where it stands.
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    temporary: mkdtempSync(join(folder, 'tmp-')),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface Place {
  readonly folder: string;
  readonly temporary: string;
}

export interface Circumstances {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts the built command, as a user would. */
export function start(
  argv: readonly string[],
  { folder, temporary }: Place,
  { stdin, env = {} }: Circumstances = {},
): Spawned {
  const child = spawn(process.execPath, [BIN, ...argv], {
    cwd: folder,
    env: { PATH: process.env.PATH, TMPDIR: temporary, LANG: 'C.UTF-8', ...env },
  });
  const out: Buffer[] = [];
  const errors: Buffer[] = [];
  const listeners = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    errors.push(chunk);
    for (const listener of listeners) listener();
  });
  child.stdin.on('error', () => {});
  child.stdin.end(stdin ?? '');
  const stderr = () => Buffer.concat(errors).toString('utf8');
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (exitCode) => {
      const bytes = Buffer.concat(out);
      resolve({ exitCode, stdout: bytes.toString('utf8'), stderr: stderr(), bytes });
    });
  });
  return {
    child,
    ended,
    said: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (stderr().includes(text)) resolve();
        };
        listeners.add(look);
        look();
        void ended.then(() => reject(new Error(`it ended without saying '${text}': ${stderr()}`)));
      }),
  };
}

export function lazaret(argv: readonly string[], place: Place, circumstances?: Circumstances): Promise<Ended> {
  return start(argv, place, circumstances).ended;
}
