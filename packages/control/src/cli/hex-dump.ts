const WIDTH = 16;

/** The first `max` bytes as people know them: offset, hexadecimal, and the letters among them. */
export function hexDump(bytes: Uint8Array, max: number): string {
  const lines: string[] = [];
  for (let offset = 0; offset < Math.min(bytes.length, max); offset += WIDTH) {
    const row = [...bytes.subarray(offset, Math.min(offset + WIDTH, max))];
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const letters = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${offset.toString(16).padStart(8, '0')}  ${hex.padEnd(3 * WIDTH - 1)}  ${letters}`);
  }
  if (bytes.length > max) lines.push(`… ${bytes.length - max} more bytes`);
  return lines.join('\n');
}
