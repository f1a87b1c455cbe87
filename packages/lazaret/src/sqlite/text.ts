/** ES2023's types do not know it yet; Node 20 does. */
type Text = string & { isWellFormed(): boolean };

/**
 * Text that would not survive as text goes in as a blob: some bindings cut at NUL, all replace lone surrogates.
 * The blob holds its UTF-16 units, so whatever JavaScript calls a string is read back exactly.
 */
export function storeText(text: string): string | Uint8Array {
  return (text as Text).isWellFormed() && !text.includes('\0') ? text : Buffer.from(text, 'utf16le');
}

/** What `storeText` made, made text again. Only for columns in which every blob is text. */
export function loadText(stored: string | Uint8Array): string {
  if (typeof stored === 'string') return stored;
  return Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).toString('utf16le');
}
