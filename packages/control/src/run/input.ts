import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { LazaretError } from 'lazaret/core';

export interface Input {
  /** What its lines are called after: the name of the file without its folder, or 'stdin'. */
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Absent where nobody knows it. */
  readonly bytes?: number;
}

const CHUNK_BYTES = 256 * 1024;

/** Opens the file at `path`, or standard input for '-'. LZ1301 where it cannot be read, also later on. `stop` ends it early, without an error. */
export async function openInput(path: string, stdin: Readable, stop: AbortSignal): Promise<Input> {
  if (path === '-') return { name: 'stdin', chunks: chunksOf(addAbortSignal(stop, stdin), 'standard input', stop) };
  const found = await stat(path).catch((cause: unknown) => {
    throw unreadable(`'${path}' cannot be read: ${reasonOf(cause)}.`, cause);
  });
  if (found.isDirectory()) throw unreadable(`'${path}' is a folder.`, undefined);
  const stream = createReadStream(path, { highWaterMark: CHUNK_BYTES, signal: stop });
  return {
    name: basename(path),
    chunks: chunksOf(stream, `'${path}'`, stop),
    // A pipe has no size.
    ...(found.isFile() ? { bytes: found.size } : {}),
  };
}

async function* chunksOf(stream: Readable, what: string, stop: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* stream as AsyncIterable<Uint8Array>;
  } catch (cause) {
    if (!stop.aborted) throw unreadable(`${what} cannot be read: ${reasonOf(cause)}.`, cause);
  }
}

function unreadable(what: string, cause: unknown): LazaretError {
  return new LazaretError('LZ1301', what, {
    hint: "Name a file with one JSON document per line, or '-' for standard input.",
    cause,
  });
}

function reasonOf(cause: unknown): string {
  const { code, message } = cause as { code?: unknown; message?: unknown };
  if (code === 'ENOENT') return 'there is no such file';
  return code === 'EACCES' ? 'permission denied' : String(message ?? cause);
}
