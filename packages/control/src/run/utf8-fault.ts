const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const REPLACEMENT = '\ufffd';
const REPLACEMENT_BYTES = [0xef, 0xbf, 0xbd] as const;

/** Where the first byte is that is no UTF-8: its offset, and how many UTF-16 units stand before it. `undefined` where all of it is. */
export function utf8Fault(bytes: Uint8Array): { readonly byte: number; readonly at: number } | undefined {
  const text = decoder.decode(bytes);
  let offset = 0;
  let from = 0;
  for (let at = text.indexOf(REPLACEMENT); at >= 0; at = text.indexOf(REPLACEMENT, from)) {
    offset += Buffer.byteLength(text.slice(from, at));
    // The character itself may stand in the text, too.
    if (!REPLACEMENT_BYTES.every((byte, index) => bytes[offset + index] === byte)) return { byte: offset, at };
    offset += REPLACEMENT_BYTES.length;
    from = at + 1;
  }
  return undefined;
}
