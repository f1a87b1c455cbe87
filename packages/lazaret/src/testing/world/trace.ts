/** One thing that happened, as a reader of the timeline sees it. */
export interface Step {
  readonly at: number;
  /** 'server', 'producer', or a process: 'p0.2' is the third one in slot 0. */
  readonly who: string;
  readonly what: string;
  /** Index of the message it was about. */
  readonly message: number | undefined;
  readonly note: string | undefined;
}

/** Everything that happened, and a hash of it: two runs with one hash went the same way, step by step. */
export class Trace {
  readonly steps: Step[] = [];
  #a = 0x243f6a88;
  #b = 0x13198a2e;

  add(at: number, who: string, what: string, message?: number, note?: string): void {
    this.steps.push({ at, who, what, message, note });
    this.mix(at);
    this.#mixText(who);
    this.#mixText(what);
    this.mix(message ?? -1);
    if (note !== undefined) this.#mixText(note);
  }

  /** Any number that two equal runs share. */
  mix(value: number): void {
    const scaled = value * 1024;
    this.#mixWord(scaled | 0);
    this.#mixWord((scaled / 0x1_0000_0000) | 0);
  }

  /** 16 hex digits. */
  get hash(): string {
    return hex(this.#a) + hex(this.#b);
  }

  #mixText(text: string): void {
    for (let at = 0; at < text.length; at++) this.#mixWord(text.charCodeAt(at));
    this.#mixWord(text.length);
  }

  /** Two lanes of 32 bits, mixed differently. */
  #mixWord(word: number): void {
    this.#a = Math.imul(this.#a ^ word, 0x01000193);
    this.#a ^= this.#a >>> 15;
    this.#b = (Math.imul(this.#b, 0x85ebca6b) + word) | 0;
    this.#b ^= this.#b >>> 13;
  }
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
