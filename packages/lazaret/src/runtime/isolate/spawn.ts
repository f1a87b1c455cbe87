import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { System } from '../../ports/system.ts';
import { asError } from '../as-error.ts';
import { unframe } from './framing.ts';
import { memoryOf } from './memory-use.ts';
import type { Reply, Request } from './protocol.ts';
import { decodeReply, encodeRequest, LONGEST_REPLY } from './protocol.ts';

/** A process of its own with a handler in it: the effect behind the pool. Nothing here throws. */
export interface Spawned {
  tell(request: Request): void;
  /** Asks it to exit by itself. */
  dismiss(): void;
  /** Ends it: none of its code runs any more. `ended` still follows. */
  kill(): void;
  /** Bytes it uses, of its own; `undefined` where it cannot be told. */
  memory(): number | undefined;
  /** While it works, this process stays alive for it; while it idles, not. */
  ref(): void;
  unref(): void;
}

export interface SpawnSeen {
  replied(reply: Reply): void;
  /** Once, and last. `how` is for people: 'exit code 1', 'signal SIGABRT'. */
  ended(how: string): void;
}

export type Spawn = (seen: SpawnSeen) => Spawned;

/** The compiled entry, whether this file itself runs compiled or not. */
const ENTRY = new URL('../../../dist/child.js', import.meta.url);
/** What a child said last may be read after its end; after so long nobody waits for it any more. */
const LAST_WORDS_MS = 100;

/** No input, output where ours goes, and a pipe over which we talk. */
const STDIO: StdioOptions = ['ignore', 'inherit', 'inherit', 'pipe'];
const PIPE = 3;

/**
 * Children of this process, with its environment, its directory and its output. We talk over a pipe of our own and not over Node's
 * channel: that one takes a message of any length into our memory before it can be refused, and any code of the child may speak on it.
 * With `reportEveryMs` a child says itself how much memory it uses.
 */
export function nodeProcesses(
  handler: URL,
  flags: readonly string[],
  reportEveryMs: number | undefined,
  system: System,
): Spawn {
  const args = [...flags, fileURLToPath(ENTRY), handler.href];
  return (seen) => {
    try {
      return converse(spawn(process.execPath, args, { stdio: STDIO }), seen, reportEveryMs, system);
    } catch (thrown) {
      system.turn(() => seen.ended(notStarted(asError(thrown))));
      return NEVER_STARTED;
    }
  };
}

const NEVER_STARTED: Spawned = {
  tell: () => undefined,
  dismiss: () => undefined,
  kill: () => undefined,
  memory: () => undefined,
  ref: () => undefined,
  unref: () => undefined,
};

function converse(child: ChildProcess, seen: SpawnSeen, reportEveryMs: number | undefined, system: System): Spawned {
  const token = system.id();
  const pipe = child.stdio[PIPE] as Socket | undefined;
  let state: 'heard' | 'dismissed' | 'distrusted' | 'ended' = 'heard';
  let how: string | undefined;
  let reportedBytes: number | undefined;

  const kill = () => void child.kill('SIGKILL');
  const tell = (request: Request) => {
    if (pipe?.writable) pipe.write(encodeRequest(request));
  };
  const distrust = () => {
    state = 'distrusted';
    kill();
  };
  const end = (as: string) => {
    if (state === 'ended') return;
    const known = state === 'distrusted' ? 'writing what no child of ours writes' : as;
    state = 'ended';
    pipe?.destroy();
    seen.ended(known);
  };
  const hear = (payload: Buffer) => {
    if (state === 'distrusted' || state === 'ended') return;
    const reply = decodeReply(token, payload);
    if (reply === undefined) distrust();
    else if (reply.kind === 'uses') reportedBytes = reply.bytes;
    else seen.replied(reply);
  };

  const read = unframe(LONGEST_REPLY, hear);
  pipe?.on('data', (chunk: Buffer) => {
    if (!read(chunk)) distrust();
  });
  // It closes as well, and that is what counts.
  pipe?.on('error', () => undefined);
  pipe?.once('close', () => {
    if (how !== undefined) end(how);
    else if (state === 'heard') kill();
  });
  child.once('exit', (code, signal) => {
    how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    if (pipe === undefined || pipe.closed) end(how);
    else system.after(LAST_WORDS_MS, () => end(how!));
  });
  child.on('error', (error) => {
    if (child.pid === undefined) end(notStarted(error));
  });
  tell({ kind: 'load', token, parent: process.pid, ...(reportEveryMs === undefined ? {} : { reportEveryMs }) });

  return {
    tell,
    dismiss() {
      state = 'dismissed';
      pipe?.end();
    },
    kill,
    memory: () => reportedBytes ?? (child.pid === undefined ? undefined : memoryOf(child.pid)),
    ref() {
      child.ref();
      pipe?.ref();
    },
    unref() {
      child.unref();
      pipe?.unref();
    },
  };
}

function notStarted(error: Error): string {
  return `an error at its start: ${error.message}`;
}
