/** Four classes to an octave: a median is exact to a tenth. */
const CLASSES_PER_OCTAVE = 4;
const CLASSES = 128;
/** The finest time that is told apart is 1/1024 ms; the longest, 2^20 ms, is a quarter of an hour. */
const UNITS_PER_MS = 1024;
const LONGEST_UNITS = 0x3fffffff;

/** Latencies by size, for their median. Constant memory, nothing allocated, no order kept. */
export class Latencies {
  readonly #classes: Int32Array = new Int32Array(CLASSES);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(ms: number): void {
    this.#classes[classOf(ms)]!++;
    this.#count++;
  }

  /** Milliseconds; 0 where there is none. */
  median(): number {
    const half = this.#count / 2;
    let below = 0;
    for (let at = 0; at < CLASSES; at++) {
      below += this.#classes[at]!;
      if (below >= half && below > 0) return middleOf(at);
    }
    return 0;
  }

  clear(): void {
    this.#classes.fill(0);
    this.#count = 0;
  }
}

/** The octave is the place of the highest bit, the class within it the two bits that follow. */
function classOf(ms: number): number {
  const units = Math.min(Math.max(ms * UNITS_PER_MS, CLASSES_PER_OCTAVE), LONGEST_UNITS) | 0;
  const octave = 31 - Math.clz32(units);
  return octave * CLASSES_PER_OCTAVE + ((units >>> (octave - 2)) & 3);
}

function middleOf(at: number): number {
  const octave = Math.floor(at / CLASSES_PER_OCTAVE);
  const within = (at % CLASSES_PER_OCTAVE) + 0.5;
  return (2 ** octave * (1 + within / CLASSES_PER_OCTAVE)) / UNITS_PER_MS;
}
