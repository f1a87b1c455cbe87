/** What a group remembers of one record above its watermark. */
export interface Mark {
  readonly isDone: boolean;
  /** Begun, and without outcome. */
  readonly isOpen: boolean;
  /** Starts whose owner vanished. */
  readonly crashes: number;
  /** Failures that were charged while it was held. */
  readonly charged: number;
  /** Not handed out before it (epoch milliseconds). */
  readonly dueAt: number | undefined;
  /** Of the whole wait, where `dueAt` is a stage of it (epoch milliseconds). */
  readonly notBefore: number | undefined;
}

export interface MarkAt extends Mark {
  readonly offset: number;
}

/** What travels in the metadata of one committed offset. */
export interface Remembered {
  readonly marks: ReadonlyMap<number, Mark>;
  /** Hashes of keys that an earlier message died of, the oldest first. */
  readonly deadKeys: readonly string[];
}

export const UNMARKED: Mark = Object.freeze({
  isDone: false,
  isOpen: false,
  crashes: 0,
  charged: 0,
  dueAt: undefined,
  notBefore: undefined,
});

/** Above it nothing more is fetched of a partition. */
export const FULL_METADATA = 3_500;

/** Kafka takes 4,096 characters, one client appends a NUL. */
const LONGEST_METADATA = 4_000;

/** Each is a hash of 64 bits. */
export const MOST_DEAD_KEYS = 32;

const VERSION = 'lz1';
const NOTHING: Remembered = Object.freeze({ marks: new Map(), deadKeys: [] });

/** A run is a length times four, and what it is a run of. */
const UNTOUCHED = 0;
const DONE = 1;
/** Begun for the first time. */
const OPEN = 2;
/** Followed by a byte that says which fields follow. */
const OTHER = 3;

const HAS = { open: 1, crashes: 2, charged: 4, dueAt: 8, notBefore: 16 } as const;

/**
 * 'lz1.owner.runs', and '.dead keys' where there are some: what lies above `watermark`, as runs from there, in base64. `list` is
 * in the order of offsets; an offset that is not in it (compacted, or a mark of a transaction) counts as done. What would be
 * longer than the broker takes ends early: what is cut off is run again.
 */
export function writeMetadata(
  owner: string,
  watermark: number,
  list: readonly MarkAt[],
  deadKeys: readonly string[] = [],
): string {
  const tail = deadKeys.length === 0 ? '' : `.${Buffer.from(deadKeys.join(''), 'hex').toString('base64')}`;
  const head = `${VERSION}.${owner}.`;
  const room = Math.floor(((LONGEST_METADATA - head.length - tail.length) * 3) / 4) - 2;
  return `${head}${Buffer.from(runsOf(watermark, list, room)).toString('base64')}${tail}`;
}

function runsOf(watermark: number, list: readonly MarkAt[], room: number): readonly number[] {
  const bytes: number[] = [];
  let end = list.length;
  while (end > 0 && codeOf(list[end - 1]!) === UNTOUCHED) end--;
  let at = watermark;
  for (let i = 0; i < end; ) {
    const first = list[i]!;
    let next = i + 1;
    while (next < end && list[next]!.offset === list[next - 1]!.offset + 1 && isSame(first, list[next]!)) next++;
    const before = bytes.length;
    if (first.offset > at) putNumber(bytes, (first.offset - at) * 4 + DONE);
    putRun(bytes, next - i, first);
    if (bytes.length > room) {
      bytes.length = before;
      break;
    }
    at = list[next - 1]!.offset + 1;
    i = next;
  }
  return bytes;
}

function codeOf({ isDone, isOpen, crashes, charged, dueAt, notBefore }: Mark): number {
  if (isDone) return DONE;
  if (crashes > 0 || charged > 0 || dueAt !== undefined || notBefore !== undefined) return OTHER;
  return isOpen ? OPEN : UNTOUCHED;
}

function isSame(a: Mark, b: Mark): boolean {
  if (a.isDone || b.isDone) return a.isDone === b.isDone;
  return (
    a.isOpen === b.isOpen &&
    a.crashes === b.crashes &&
    a.charged === b.charged &&
    a.dueAt === b.dueAt &&
    a.notBefore === b.notBefore
  );
}

function putRun(bytes: number[], length: number, mark: Mark): void {
  const code = codeOf(mark);
  putNumber(bytes, length * 4 + code);
  if (code !== OTHER) return;
  const { isOpen, crashes, charged, dueAt, notBefore } = mark;
  bytes.push(
    (isOpen ? HAS.open : 0) |
      (crashes > 0 ? HAS.crashes : 0) |
      (charged > 0 ? HAS.charged : 0) |
      (dueAt === undefined ? 0 : HAS.dueAt) |
      (notBefore === undefined ? 0 : HAS.notBefore),
  );
  if (crashes > 0) putNumber(bytes, crashes);
  if (charged > 0) putNumber(bytes, charged);
  if (dueAt !== undefined) putNumber(bytes, Math.ceil(dueAt));
  if (notBefore !== undefined) putNumber(bytes, Math.ceil(notBefore));
}

/** Seven bits a byte, the lowest first. */
function putNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

/** No more marks than that are believed of what anybody may have committed. */
const MOST_MARKS = 100_000;

/**
 * What was committed, as whoever takes over reads it: what somebody else left open is a start whose owner vanished. What `self` left
 * open was lost while it lived, so it ends as a release. What is not ours is nothing; what breaks off counts up to there.
 */
export function readMetadata(self: string, watermark: number, metadata: string | undefined): Remembered {
  // n.b. one client appends a NUL to what it commits.
  const [version, owner, runs = '', dead = ''] = (metadata ?? '').replace(/\0$/, '').split('.');
  if (version !== VERSION || owner === undefined) return NOTHING;
  const marks = new Map<number, Mark>();
  const reader = new Reader(Buffer.from(runs, 'base64'));
  let at = watermark;
  for (let run = reader.run(); run !== undefined; run = reader.run()) {
    const { length, mark } = run;
    if (!(at + length <= Number.MAX_SAFE_INTEGER)) break;
    const { isOpen, crashes } = mark;
    const taken = { ...mark, isOpen: false, crashes: isOpen && owner !== self ? crashes + 1 : crashes };
    if (codeOf(taken) !== UNTOUCHED) {
      if (marks.size + length > MOST_MARKS) break;
      for (let n = 0; n < length; n++) marks.set(at + n, taken);
    }
    at += length;
  }
  return { marks, deadKeys: deadKeysOf(dead) };
}

function deadKeysOf(text: string): readonly string[] {
  const digits = Buffer.from(text, 'base64').toString('hex');
  const keys: string[] = [];
  for (let at = 0; at + 16 <= digits.length && keys.length < MOST_DEAD_KEYS; at += 16)
    keys.push(digits.slice(at, at + 16));
  return keys;
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** `undefined` at the end, and where it breaks off. */
  run(): { readonly length: number; readonly mark: Mark } | undefined {
    const value = this.#number();
    if (value === undefined) return undefined;
    const code = value % 4;
    const length = (value - code) / 4;
    const mark = code === OTHER ? this.#mark() : { ...UNMARKED, isDone: code === DONE, isOpen: code === OPEN };
    return mark === undefined ? undefined : { length, mark };
  }

  #mark(): Mark | undefined {
    const has = this.#bytes[this.#at++];
    if (has === undefined) return undefined;
    const crashes = has & HAS.crashes ? this.#number() : 0;
    const charged = has & HAS.charged ? this.#number() : 0;
    if (crashes === undefined || charged === undefined) return undefined;
    const dueAt = has & HAS.dueAt ? this.#number() : undefined;
    const notBefore = has & HAS.notBefore ? this.#number() : undefined;
    return { isDone: false, isOpen: (has & HAS.open) !== 0, crashes, charged, dueAt, notBefore };
  }

  #number(): number | undefined {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 49; factor *= 128) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) return undefined;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    return undefined;
  }
}
