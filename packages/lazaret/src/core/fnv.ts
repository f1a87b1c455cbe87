const encoder = new TextEncoder();

/**
 * FNV-1a of 64 bits over the UTF-8 bytes of `text`, as 16 hex digits (draft-eastlake-fnv). Every language has it or writes it
 * in ten lines. Not for secrets: whoever wants two texts of one hash can make them.
 */
export function fnv1a64(text: string): string {
  const bytes = encoder.encode(text);
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (let at = 0; at < bytes.length; at++) {
    low ^= bytes[at]!;
    // Times the prime 2^40 + 0x1b3, modulo 2^64; `low` in two halves, so that no product leaves the exact integers.
    const bottom = (low & 0xffff) * 0x1b3;
    const top = (low >>> 16) * 0x1b3 + (bottom >>> 16);
    high = (Math.imul(high, 0x1b3) + (low << 8) + (top >>> 16)) | 0;
    low = (top << 16) | (bottom & 0xffff);
  }
  return hex(high) + hex(low);
}

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hex(word: number): string {
  return HEX[word >>> 24]! + HEX[(word >>> 16) & 0xff]! + HEX[(word >>> 8) & 0xff]! + HEX[word & 0xff]!;
}
