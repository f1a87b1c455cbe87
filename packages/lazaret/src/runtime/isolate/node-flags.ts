import { optionError } from '../../core/option-error.ts';
import { formatSize } from '../../core/size.ts';

const MB = 1024 ** 2;

/** What a process of Node with a small handler takes before its first message, rounded up. */
const BARE_BYTES: number = 16 * MB;
const LEAST_BYTES: number = 48 * MB;
/** V8's own default for one half of the young generation; it has three. */
const LARGEST_SEMI_SPACE_MB = 16;

const WITH_CODE = ['-e', '--eval', '-p', '--print', '-pe'];
const DROPPED = /^--(?:inspect|eval=|print=|input-type)/;

/**
 * The flags of a child: those of this process, so that loaders and conditions hold there too, but without its debugger port and without
 * code given on the command line; and with `memoryBytes` a heap that leaves room for the rest of the process, so that garbage is
 * collected before the limit of the whole is met.
 */
export function childFlags(own: readonly string[], memoryBytes: number | undefined): string[] {
  const flags = own.filter(
    (flag, at) => !WITH_CODE.includes(flag) && !WITH_CODE.includes(own[at - 1] ?? '') && !DROPPED.test(flag),
  );
  return memoryBytes === undefined ? flags : [...flags, ...heapFlags(memoryBytes)];
}

function heapFlags(memoryBytes: number): string[] {
  const semiSpaceMb = Math.min(Math.floor(memoryBytes / MB / 16), LARGEST_SEMI_SPACE_MB);
  const oldSpaceMb = Math.floor((memoryBytes - BARE_BYTES) / MB) - 3 * semiSpaceMb;
  return [`--max-semi-space-size=${semiSpaceMb}`, `--max-old-space-size=${oldSpaceMb}`];
}

/** Throws LZ1003 where no handler could run in so little. */
export function refuseTooLittleMemory(memoryBytes: number): void {
  if (memoryBytes >= LEAST_BYTES) return;
  const what = `${formatSize(memoryBytes)} is too little for a process.`;
  throw optionError('LZ1003', 'isolate.memory', what, `Write at least '${formatSize(LEAST_BYTES)}'.`);
}
