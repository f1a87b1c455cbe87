/** One call of a stack trace: what was called, and the file it stands in, with `/` between folders. Either may be ''. */
export interface Frame {
  readonly call: string;
  readonly file: string;
}

const LINES_LOOKED_AT = 200;
const LONGEST_LINE = 1024;

/**
 * The innermost `max` calls of a stack trace that stand in somebody's own code: not in installed packages, not in the runtime.
 * Reads the traces of V8, the JVM, .NET, Python, Go, Ruby and PHP; lines that are no frame are skipped. Line and column numbers
 * are left out, and of the files the folder that all of them share, so that the same code gives the same frames wherever it is
 * installed. Linear in the length of the text.
 */
export function ownFrames(stack: string, max: number): readonly Frame[] {
  const lines = stack.split('\n', LINES_LOOKED_AT);
  // Python writes the innermost call last.
  if (lines.some((line) => line.startsWith('Traceback '))) lines.reverse();
  const frames: Frame[] = [];
  for (let at = 0; at < lines.length && frames.length < max; at++) {
    const frame = readFrame(lines[at]!, lines[at - 1] ?? '');
    if (frame !== undefined) frames.push(frame);
  }
  return withoutSharedFolder(frames);
}

/** `undefined` also for frames of packages and of the runtime. */
function readFrame(line: string, before: string): Frame | undefined {
  if (line.length > LONGEST_LINE || FOREIGN_FILE.test(line)) return undefined;
  const text = line.trim();
  if (text.startsWith(AT)) return readV8(text) ?? readDotNet(text) ?? readJvm(text);
  return readPython(text) ?? readPhp(text) ?? readRuby(text) ?? readGo(text, before);
}

/** A folder of installed packages, or the runtime's own scheme. */
const FOREIGN_FILE =
  /[\\/](?:node_modules|site-packages|dist-packages|lib[\\/]python\d|gems|vendor|go[\\/]pkg[\\/]mod|go[\\/]src)[\\/.]|[( ](?:node:|internal\/)/;

// --- one reader per language

const AT = 'at ';
const ASYNC = 'at async ';
const V8_PLACE = /:\d{1,9}:\d{1,9}\)?$/;

/** `at async fn [as name] (file:///app/x.js:1:2)` or `at async /app/x.js:1:2`. A place without a folder is Node itself, or no file. */
function readV8(text: string): Frame | undefined {
  const end = text.search(V8_PLACE);
  if (end === -1) return undefined;
  const start = text.startsWith(ASYNC) ? ASYNC.length : AT.length;
  const open = text.indexOf(' (');
  const file = cleanFile(text.slice(open === -1 ? start : open + 2, end));
  if (file === undefined || !file.includes('/')) return undefined;
  return { call: open === -1 ? '' : withoutAlias(text.slice(start, open)), file };
}

function withoutAlias(call: string): string {
  const alias = call.indexOf(' [as ');
  return alias === -1 ? call : call.slice(0, alias);
}

const JVM_PLACE = /^[\w$-]{1,256}\.(?:java|kt|scala|groovy|clj)(?=:\d{1,9}$|$)/;
/** Where a trace gives no folder, the package tells. */
const FOREIGN_CALL =
  /^(?:java|javax|jdk|sun|com\.sun|kotlin|scala|groovy|System|Microsoft|org\.springframework|org\.apache)\./;
/** Of lambdas, closures and state machines: given anew by each compilation. */
const GENERATED_NUMBERS = /\d{1,32}/g;

/** `at app//com.acme.Orders.handle(Orders.java:42)`, or .NET without symbols: `at Acme.Orders.Handle(Order order)`. */
function readJvm(text: string): Frame | undefined {
  const open = text.indexOf('(');
  if (open === -1 || !text.endsWith(')') || text.charAt(open - 1) === ' ') return undefined;
  const call = text.slice(text.lastIndexOf('/', open) + 1 || AT.length, open).replace(GENERATED_NUMBERS, '');
  if (FOREIGN_CALL.test(call)) return undefined;
  const [file] = JVM_PLACE.exec(text.slice(open + 1, -1)) ?? [''];
  return { call, file };
}

/** `at Acme.Orders.Handle(Order order) in C:\src\Orders.cs:line 42` */
function readDotNet(text: string): Frame | undefined {
  const line = text.lastIndexOf(':line ');
  const place = text.lastIndexOf(' in ', line);
  const open = text.indexOf('(');
  if (line === -1 || place === -1 || open === -1 || open > place) return undefined;
  const file = cleanFile(text.slice(place + 4, line));
  return file === undefined ? undefined : { call: text.slice(AT.length, open).replace(GENERATED_NUMBERS, ''), file };
}

const PYTHON = /^File "([^"]{1,512})", line \d{1,9}(?:, in (.{1,256}))?$/;
const PHP = /^#\d{1,4} ([^(]{1,512})\(\d{1,9}\): ([^(]{1,256})/;
const RUBY = /^(?:from )?([^:]{1,512}\.rb):\d{1,9}:in [`'](.{1,256})'$/;
const GO = /^(\/[^:]{1,512}\.go):\d{1,9}(?: \+0x[0-9a-f]{1,16})?$/;

function readPython(text: string): Frame | undefined {
  return text.startsWith('File "') ? fileThenCall(PYTHON.exec(text)) : undefined;
}

function readPhp(text: string): Frame | undefined {
  return text.startsWith('#') ? fileThenCall(PHP.exec(text)) : undefined;
}

function readRuby(text: string): Frame | undefined {
  return fileThenCall(RUBY.exec(text));
}

/** The call stands on the line before its file. */
function readGo(text: string, before: string): Frame | undefined {
  const [, file] = GO.exec(text) ?? [];
  if (file === undefined) return undefined;
  const open = before.lastIndexOf('(');
  return { call: open === -1 ? before.trim() : before.slice(0, open), file };
}

function fileThenCall(match: RegExpExecArray | null): Frame | undefined {
  const file = match === null ? undefined : cleanFile(match[1]!);
  return file === undefined ? undefined : { call: match?.[2] ?? '', file };
}

// --- files

const SCHEME = /^[a-z][a-z-]{1,20}:\/\/(?=\/|\.)/;

/** `undefined` for what is no file of a program: evaluated code, `<anonymous>`. */
function cleanFile(place: string): string | undefined {
  if (place.includes('<anonymous>') || place.startsWith('eval at ')) return undefined;
  const path = (place.includes('\\') ? place.replaceAll('\\', '/') : place).replace(SCHEME, '');
  const query = path.indexOf('?');
  return query === -1 ? path : path.slice(0, query);
}

/** `main.3f2a1b9c.js`: bundlers name files after their content. */
const CONTENT_HASH = /([.-])(?=[A-Za-z]{0,64}\d)[A-Za-z0-9]{8,64}(?=\.[a-z]{1,4}$)/;

function withoutSharedFolder(frames: readonly Frame[]): readonly Frame[] {
  const placed = frames.filter(({ file }) => file.includes('/'));
  const shared = placed.map(({ file }) => file).reduce(sharedStart, placed[0]?.file ?? '');
  const folder = shared.slice(0, shared.lastIndexOf('/') + 1);
  return frames.map(({ call, file }) => ({
    call,
    file: (file.startsWith(folder) ? file.slice(folder.length) : file).replace(CONTENT_HASH, '$1*'),
  }));
}

function sharedStart(one: string, other: string): string {
  let at = 0;
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return one.slice(0, at);
}
