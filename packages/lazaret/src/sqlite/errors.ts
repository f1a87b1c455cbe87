import { isLazaretError, LazaretError } from '../core/errors.ts';

/** The primary result codes that mean something to us. */
const PRIMARY_CODES: Readonly<Record<number, string>> = {
  3: 'PERM',
  5: 'BUSY',
  6: 'LOCKED',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  18: 'TOOBIG',
  19: 'CONSTRAINT',
  26: 'NOTADB',
};

/** The primary result code of what a binding threw ('BUSY', 'FULL', …): as a number in some bindings, as text in others. */
export function resultCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  // The lower eight bits of an extended code are the primary one.
  if (typeof errcode === 'number') return PRIMARY_CODES[errcode & 0xff] ?? `code ${errcode}`;
  if (typeof code === 'string' && code.startsWith('SQLITE_')) return code.split('_')[1];
  return undefined;
}

/** Another connection has what we want: it is worth trying again. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === 'BUSY' || code === 'LOCKED';
}

/** What went wrong with `file`, for people: no SQL, and the binding's own error only as the cause. */
export function explained(error: unknown, file: string): Error {
  if (isLazaretError(error)) return error;
  const code = resultCode(error);
  switch (code) {
    case 'NOTADB':
      return say(
        'LZ1110',
        `'${file}' is not an SQLite database.`,
        'Check the path, or name a file that does not exist yet.',
      );
    case 'CORRUPT':
      return say(
        'LZ1111',
        `The database '${file}' is damaged.`,
        'Stop everything that uses it, keep a copy together with its -wal file, then restore a backup or rescue what is readable with: sqlite3 FILE .recover',
      );
    case 'READONLY':
    case 'PERM':
    case 'CANTOPEN':
      return say(
        'LZ1114',
        `The database '${file}' cannot be opened for writing.`,
        'This process needs the right to write to the file and to its folder, where SQLite keeps a -wal and a -shm file beside it.',
      );
    case 'IOERR':
      return say(
        'LZ1114',
        `The disk refused to read or write the database '${file}'.`,
        'Look at the free space and the health of the disk; what was confirmed before is not touched.',
      );
    case 'FULL':
      return say(
        'LZ1115',
        `The disk is full: '${file}' could not grow.`,
        'Free some space; nothing was half-written, and the next try works again once there is room.',
      );
    case 'BUSY':
    case 'LOCKED':
      return say(
        'LZ1117',
        `The database '${file}' stays locked by another connection.`,
        'Look for a process that keeps a transaction open on it (a shell, a backup, a viewer) and end it.',
      );
    case 'TOOBIG':
      return say(
        'LZ1119',
        `A message is too large for '${file}'.`,
        'SQLite holds up to 1 GB in a row; store the content elsewhere and send a reference.',
      );
    default:
      if (isClosed(error)) return say('LZ1102', `The database '${file}' is closed.`);
      return say('LZ1120', `The database '${file}' failed (${code ?? 'no code'}): ${firstLine(error)}.`);
  }

  function say(kind: ConstructorParameters<typeof LazaretError>[0], message: string, hint?: string): LazaretError {
    return new LazaretError(kind, message, hint === undefined ? { cause: error } : { hint, cause: error });
  }
}

/** Bindings say it in their own words, without a result code. */
export function isClosed(error: unknown): boolean {
  return error instanceof Error && /not open|is closed|has been finalized/.test(error.message);
}

/** What was thrown, as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(firstLine(thrown));
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error)
    .split('\n', 1)[0]!
    .slice(0, 200);
}
