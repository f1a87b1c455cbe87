/** Where a text stops being JSON, and what is wrong there. */
export interface JsonFault {
  /** Offset in UTF-16 units. */
  readonly at: number;
  readonly what: string;
}

/** What may come next. */
type Wanted = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or ]' | ', or }' | 'end';

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

const IN_WORDS: Readonly<Record<Wanted, string>> = {
  value: 'a value',
  'value or ]': "a value or ']'",
  name: 'a name in double quotes',
  'name or }': "a name in double quotes or '}'",
  ':': "':'",
  ', or ]': "',' or ']'",
  ', or }': "',' or '}'",
  end: 'the end',
};

/**
 * The first fault of `text`, `undefined` for valid JSON. Engines say it each in their own words, and often without a place.
 * Linear in the length of the text, and without recursion.
 */
export function jsonFault(text: string): JsonFault | undefined {
  const open: ('{' | '[')[] = [];
  let wanted: Wanted = 'value';
  let at = skip(SPACE, text, 0);

  const close = (): Wanted => {
    open.pop();
    return afterValue(open);
  };

  while (at < text.length) {
    const character = text[at]!;
    if (character === '"' && (wanted.startsWith('value') || wanted.startsWith('name'))) {
      const end = endOfString(text, at);
      if (typeof end !== 'number') return end;
      at = end;
      wanted = wanted.startsWith('name') ? ':' : afterValue(open);
    } else if (character === '{' && wanted.startsWith('value')) {
      open.push('{');
      wanted = 'name or }';
      at++;
    } else if (character === '[' && wanted.startsWith('value')) {
      open.push('[');
      wanted = 'value or ]';
      at++;
    } else if ((character === '}' || character === ']') && wanted.endsWith(`or ${character}`)) {
      wanted = close();
      at++;
    } else if (character === ':' && wanted === ':') {
      wanted = 'value';
      at++;
    } else if (character === ',' && wanted.startsWith(',')) {
      wanted = wanted === ', or }' ? 'name' : 'value';
      at++;
    } else {
      const end = wanted.startsWith('value') ? skip(SCALAR, text, at) : at;
      if (end === at) return { at, what: `expected ${IN_WORDS[wanted]}, found ${shown(text, at)}` };
      at = end;
      wanted = afterValue(open);
    }
    at = skip(SPACE, text, at);
  }
  return wanted === 'end' ? undefined : { at, what: `ends where ${IN_WORDS[wanted]} is expected` };
}

function afterValue(open: readonly ('{' | '[')[]): Wanted {
  switch (open.at(-1)) {
    case '{':
      return ', or }';
    case '[':
      return ', or ]';
    case undefined:
      return 'end';
  }
}

/** Where `pattern`, which is sticky, ends if it matches at `at`; else `at`. */
function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** The offset behind the string that begins at `start`, or what is wrong in it. */
function endOfString(text: string, start: number): number | JsonFault {
  for (let at = start + 1; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return { at, what: `a string holds the control character ${shown(text, at)}` };
    if (code !== 0x5c) at++;
    else {
      const end = skip(ESCAPE, text, at);
      if (end === at)
        return { at, what: `a string holds the unknown escape ${JSON.stringify(text.slice(at, at + 2))}` };
      at = end;
    }
  }
  return { at: text.length, what: 'ends inside a string' };
}

function shown(text: string, at: number): string {
  const character = String.fromCodePoint(text.codePointAt(at)!);
  return character < ' ' ? JSON.stringify(character) : `'${character}'`;
}
