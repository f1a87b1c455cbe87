import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frame, unframe } from '../../../src/runtime/isolate/framing.ts';

const payloads = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 12 });

/** `bytes` in pieces, cut at `cuts`. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

describe('framing', () => {
  it('gives each payload back, however the stream was cut', () => {
    fc.assert(
      fc.property(payloads, fc.array(fc.nat(), { maxLength: 20 }), (sent, cuts) => {
        const seen: Buffer[] = [];
        const read = unframe(300, (payload) => seen.push(Buffer.from(payload)));
        for (const chunk of pieces(Buffer.concat(sent.map(frame)), cuts)) expect(read(chunk)).toBe(true);
        expect(seen).toEqual(sent.map((payload) => Buffer.from(payload)));
      }),
    );
  });

  it('keeps nothing of a payload that is announced as too long', () => {
    const seen: Buffer[] = [];
    const read = unframe(10, (payload) => seen.push(payload));
    expect(read(frame(new Uint8Array(10)))).toBe(true);
    expect(read(frame(new Uint8Array(11)).subarray(0, 4))).toBe(false);
    expect(seen).toHaveLength(1);
  });
});
