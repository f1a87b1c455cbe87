/** Payloads over a stream of bytes: four bytes of length each, then the payload. */

const HEADER_BYTES = 4;

export function frame(payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + payload.byteLength);
  bytes.writeUInt32BE(payload.byteLength);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/**
 * Takes the stream chunk by chunk and tells `seen` each payload. Answers `false` as soon as a length beyond `maxBytes` is announced,
 * before any of it is kept: what follows cannot be read any more.
 */
export function unframe(maxBytes: number, seen: (payload: Buffer) => void): (chunk: Buffer) => boolean {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let needed = HEADER_BYTES;

  return (chunk) => {
    kept.push(chunk);
    keptBytes += chunk.length;
    if (keptBytes < needed) return true;
    let rest = kept.length === 1 ? chunk : Buffer.concat(kept, keptBytes);
    for (needed = HEADER_BYTES; rest.length >= needed; rest = rest.subarray(needed), needed = HEADER_BYTES) {
      const length = rest.readUInt32BE();
      if (length > maxBytes) return false;
      needed = HEADER_BYTES + length;
      if (rest.length < needed) break;
      seen(rest.subarray(HEADER_BYTES, needed));
    }
    kept = [rest];
    keptBytes = rest.length;
    return true;
  };
}
