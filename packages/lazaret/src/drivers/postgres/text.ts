/** ES2023's types do not know it yet; Node 20 does. */
type Text = string & { isWellFormed(): boolean };

/** Before text that PostgreSQL could not hold as it is; no name that people choose begins with it. */
const MARK = '\u0001';

/** PostgreSQL refuses NUL in text, and lone surrogates would be replaced: such text goes in as the base64 of its UTF-16 units. */
export function storeText(text: string): string {
  return (text as Text).isWellFormed() && !text.includes('\0') && !text.startsWith(MARK)
    ? text
    : MARK + Buffer.from(text, 'utf16le').toString('base64');
}

/** What `storeText` made, made text again. */
export function loadText(stored: string): string {
  return stored.startsWith(MARK) ? Buffer.from(stored.slice(1), 'base64').toString('utf16le') : stored;
}
