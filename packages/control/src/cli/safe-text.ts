/**
 * Text of messages, headers, errors and ids comes from anybody who can publish. What a terminal would obey instead of show
 * (C0, C1, escape sequences, bidirectional marks and everything else without a shape) is spelled out, and nowhere else than here.
 */

/** Controls, format characters, lone surrogates, private and unassigned ones, and the two line breaks of Unicode. */
const UNSHOWABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
const UNSHOWABLE_BUT_LINE_BREAKS = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** For a cell or a sentence: one line, whatever `text` holds. */
export function cell(text: string): string {
  return text.replace(UNSHOWABLE, spelledOut);
}

/** For text of several lines: they stay lines, tabs become spaces, all else as in a cell. */
export function block(text: string): string {
  return text.replace(/\r\n/g, '\n').replaceAll('\t', '    ').replace(UNSHOWABLE_BUT_LINE_BREAKS, spelledOut);
}

/** For a field of tab-separated output: as in a cell, with the backslash doubled, so that it can be read back. */
export function field(text: string): string {
  return cell(text.replaceAll('\\', '\\\\'));
}

/** What `field` made of a text that has no other escapes than `\\`, `\t`, `\n`, `\r`, `\xNN` and `\u{N}`. */
export function readField(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|u\{([0-9a-f]{1,6})\}|(.))/g, (_, x?: string, u?: string, one?: string) => {
    const code = x ?? u;
    if (code !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff));
    return one === 't' ? '\t' : one === 'n' ? '\n' : one === 'r' ? '\r' : one!;
  });
}

/** Whether bytes are text in which there is nothing to spell out. */
export function isShowable(bytes: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return block(text) === text;
  } catch {
    return false;
  }
}

/** JSON text in which nothing is left that a terminal obeys; it says the same. With `ascii`, nothing beyond ASCII either. */
export function safeJson(json: string, ascii: boolean): string {
  return json.replace(ascii ? /[^\n -~]/g : /[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, jsonEscapes);
}

/** For a terminal that is not UTF-8, where a byte of a letter may be read as a control: our symbols by name, all else spelled out. */
export function toAscii(text: string): string {
  // Escape sequences in it are our own colours: whatever came from elsewhere is safe already.
  return text.replace(/[^\n -~]/gu, (character) =>
    character === ESCAPE ? ESCAPE : (SYMBOLS[character] ?? spelledOut(character)),
  );
}

const ESCAPE = '\x1b';

const SYMBOLS: Readonly<Record<string, string>> = {
  '…': '...',
  '─': '-',
  '–': '-',
  '·': '|',
  '±': '+/-',
  '×': 'x',
  '←': '<-',
  '→': '->',
  '✓': 'ok',
  '✗': 'no',
  '▲': '!',
  '█': '#',
  '░': '.',
};

function spelledOut(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0)!;
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

function jsonEscapes(character: string): string {
  let escapes = '';
  for (let at = 0; at < character.length; at++) {
    escapes += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return escapes;
}
