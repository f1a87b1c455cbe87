/** Line numbers, one bit each: fifty million lines take six megabytes. */
export class LineSet {
  #bits = new Uint8Array(1024);

  /** `false` where it was in already. */
  add(line: number): boolean {
    const byte = line >>> 3;
    if (byte >= this.#bits.length) this.#grow(byte);
    const bit = 1 << (line & 7);
    if ((this.#bits[byte]! & bit) !== 0) return false;
    this.#bits[byte]! |= bit;
    return true;
  }

  #grow(byte: number): void {
    const bits = new Uint8Array(2 * (byte + 1));
    bits.set(this.#bits);
    this.#bits = bits;
  }
}
