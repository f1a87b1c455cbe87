/** Units of a message that are looked at, and of a shape that are kept. */
const LOOKED_AT = 1024;
const KEPT = 256;

/**
 * The shape of an error message: the text with everything replaced that differs between two messages with one cause, at most
 * 256 units on one line. Linear in the text, of which the first 1,024 units count: no pattern begins twice in one run of
 * characters, or runs over more than a bounded stretch.
 */
export function messageShape(message: string): string {
  return words(withoutQuotes(message.slice(0, LOOKED_AT)))
    .replace(MONTH_DATE, '<time>')
    .replace(REPEATED, '$1')
    .slice(0, KEPT);
}

// --- what may contain spaces

const QUOTE = /["'`“«]/;
const NOT_JSON = ' is not valid JSON';
/** Of broken JSON V8 quotes a piece that contains quotes itself. */
const BROKEN_JSON = /(?:\.{3})?"[\s\S]{0,64}?"(?:\.{3})?(?= is not valid JSON)/g;
const QUOTED = /"[^"]{0,512}"|`[^`]{0,512}`|(?<!\w)'[^']{0,512}'(?!\w)|“[^”]{0,512}”|«[^»]{0,512}»/g;

function withoutQuotes(text: string): string {
  if (!QUOTE.test(text)) return text;
  const outer = text.includes(NOT_JSON) ? text.replace(BROKEN_JSON, '<text>') : text;
  return outer.replace(QUOTED, '<text>');
}

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
/** After the words had their turn: `Tue, <n> Jan <n> <time> GMT`. */
const MONTH_DATE = new RegExp(
  `(?:\\b[A-Z][a-z]{2},? )?(?:<n> ${MONTH}|\\b${MONTH} <n>),? <n>(?:,? <time>)?(?: (?:GMT|UTC)(?:[+-]<n>)?)?`,
  'g',
);
/** A list of ids is as long as it happens to be. */
const REPEATED = /(<[a-z]{1,5}>)(?:[ ,;|&]{1,4}\1)+/g;

// --- word by word

const OTHER_SPACE = /[^\S ]/;
const SPACE = /\s+/g;
const NOTEWORTHY = /[\d@]|:\/\//;

function words(text: string): string {
  let shape = '';
  let before = '';
  // To split at a pattern costs several times as much.
  for (const word of (OTHER_SPACE.test(text) ? text.replace(SPACE, ' ') : text).split(' ')) {
    if (word === '') continue;
    if (shape !== '') shape += ' ';
    shape += NOTEWORTHY.test(word) && !isStatus(word, before) ? word.replace(VARIABLE, replace) : word;
    before = word;
  }
  return shape;
}

const STATUS = /^[1-5]\d\d(?:\W|$)/;
const BEFORE_STATUS = /^(?:status|code|HTTP(?:\/\d(?:\.\d)?)?)[:=]?$/i;

/** A status is the failure itself: 404 and 503 are two. */
function isStatus(word: string, before: string): boolean {
  return STATUS.test(word) && BEFORE_STATUS.test(before);
}

type Replacement = string | ((found: string) => string);

const HEX4 = '[0-9A-Fa-f]{4}';
const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?`;
const IPV4 = String.raw`\d{1,3}(?:\.\d{1,3}){3}`;
const IPV6 = `(?:[0-9A-Fa-f]{0,4}:){2,7}(?:${IPV4}|[0-9A-Fa-f]{1,4})?`;

/** At one place the first that matches wins. */
const KINDS: readonly (readonly [Replacement, pattern: string])[] = [
  ['<url>', String.raw`(?<![\w+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^<>)\]},]{1,1024}`],
  ['<email>', String.raw`(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}`],
  ['<uuid>', String.raw`(?<!\w)[0-9A-Fa-f]{8}-${HEX4}-${HEX4}-${HEX4}-[0-9A-Fa-f]{12}(?!\w)`],
  ['<time>', String.raw`(?<!\w)\d{4}-\d{2}-\d{2}(?:T${CLOCK})?(?!\w)|(?<![\w:.])${CLOCK}(?![\w:])`],
  [
    address,
    String.raw`(?<![\w:.])(?:(?:localhost|${IPV4}|\[${IPV6}\]):\d{1,5}|${IPV4}(?:/\d{1,2})?|\[?${IPV6}\]?(?:/\d{1,3})?)(?!\w)`,
  ],
  // Random names: long, with a digit and both cases. What names a thing in a sentence has not all three.
  [
    '<token>',
    String.raw`(?<![\w-])(?=[A-Za-z_-]{0,128}\d)(?=[a-z\d_-]{0,128}[A-Z])(?=[A-Z\d_-]{0,128}[a-z])[\w-]{20,1024}(?:\.[\w-]{1,1024}){0,4}`,
  ],
  // A number, or a run of letters and digits: `17`, `1,234.5`, `12ms`, `81f2` of `evt-81f2`, `0xc000`.
  [
    '<n>',
    String.raw`(?:(?<![\w)])-)?(?<![A-Za-z0-9])[A-Za-z]{0,128}\d[A-Za-z0-9]{0,1024}(?:[.,:]\d[A-Za-z0-9]{0,128}){0,64}`,
  ],
];

/** Of `status=503` inside one word. */
const KEPT_STATUS = String.raw`(?:(?<=\bstatus[:=])|(?<=\bcode[:=])|(?<=\bHTTP))[1-5]\d\d(?!\w)`;
const VARIABLE = new RegExp([KEPT_STATUS, ...KINDS.map(([, pattern]) => `(${pattern})`)].join('|'), 'g');

function replace(found: string, ...groups: readonly unknown[]): string {
  const [replacement] = KINDS[groups.findIndex((group) => group !== undefined)] ?? [found];
  return typeof replacement === 'string' ? replacement : replacement(found);
}

const PORT = /^(?:localhost|[\d.]{7,15}|\[.{2,45}\]|::1):(\d{1,5})$/;
const FIRST_EPHEMERAL_PORT = 32768;

/** A host may be any of several, but its port names the service: 5432 refused is not 6379 refused. */
function address(found: string): string {
  const [, port] = PORT.exec(found) ?? [];
  return port !== undefined && Number(port) < FIRST_EPHEMERAL_PORT ? `<addr>:${port}` : '<addr>';
}
