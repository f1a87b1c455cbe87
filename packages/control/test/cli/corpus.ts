/** Text as somebody may publish it to make a terminal do something. */
export const HOSTILE: readonly (readonly [what: string, text: string])[] = [
  ['a colour', 'a\u001b[31mred\u001b[0m'],
  ['a cleared screen', '\u001b[2J\u001b[H'],
  ['a title of the window', '\u001b]0;owned\u0007'],
  ['a hyperlink', '\u001b]8;;http://example.test\u001b\\click\u001b]8;;\u001b\\'],
  ['a clipboard write', '\u001b]52;c;ZXZpbA==\u0007'],
  ['a device control string', '\u001bP$q"p\u001b\\'],
  ['a request that the terminal answers', '\u001b[6n\u001b[c\u0005'],
  ['an escape of one byte', '\u009b31mred\u009b0m'],
  ['an operating system command of one byte', '\u009d0;owned\u009c'],
  ['a bell and a backspace', 'pass\u0007\b\b\b\bfail'],
  ['a carriage return that overwrites', 'exhausted\rdone     '],
  ['a new row', 'why\n17\tevt-1\torders\tdone'],
  ['a tab', 'a\tb'],
  ['NUL and DEL', 'a\u0000b\u007fc'],
  ['vertical tab and form feed', 'a\u000bb\u000cc'],
  ['NEL and the separators of Unicode', 'a\u0085b\u2028c\u2029d'],
  ['a text that runs backwards', 'user\u202etxt.exe'],
  ['isolates and marks', '\u2066a\u2067b\u2068c\u2069d\u200ee\u200ff\u061cg'],
  ['what has no width', 'a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg'],
  ['tags, which are invisible letters', 'a\u{e0041}\u{e0042}\u{e007f}'],
  ['half of a pair', 'a\ud83d b\udc00'],
  ['private and unassigned ones', 'a\ue000b\u{10ffff}c\uffff'],
  ['a shift to another alphabet', 'a\u000eb\u000f\u001b(0'],
  ['all of C0', String.fromCharCode(...Array.from({ length: 32 }, (_, code) => code))],
  ['all of C1', String.fromCharCode(...Array.from({ length: 32 }, (_, code) => 0x80 + code))],
];

/** What a terminal obeys instead of showing, or shows as nothing. */
export const OBEYED: RegExp = /[\p{C}\p{Zl}\p{Zp}]/u;
