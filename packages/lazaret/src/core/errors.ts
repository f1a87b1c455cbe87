/**
 * Every error that Lazaret raises by itself: a code, a name, and a message in the form
 * *what happened, with which value, what to do*. `docs/reference/errors.md` lists the same table, and a test compares the two.
 */
export const ERRORS = {
  // 10xx: configuration, checked at start
  LZ1001: 'unknown option',
  LZ1002: 'option has the wrong type',
  LZ1003: 'option is out of range',
  LZ1004: 'options contradict each other',
  LZ1042: 'bare number where a duration is expected',
  LZ1043: 'unreadable duration',
  LZ1044: 'unreadable rate',
  LZ1050: 'no such preset',
  LZ1051: 'ordering cannot be promised',
  LZ1052: 'queue is consumed twice',
  LZ1053: 'unknown broker address',
  LZ1054: 'not possible in this state of the app',
  // 11xx: drivers
  LZ1101: 'a package is missing',
  LZ1102: 'driver is closed',
  LZ1110: 'not a database',
  LZ1111: 'database is damaged',
  LZ1112: 'database belongs to something else',
  LZ1113: 'database schema is not ours to read',
  LZ1114: 'database cannot be written',
  LZ1115: 'disk is full',
  LZ1116: 'database lies on a network file system',
  LZ1117: 'database stays locked',
  LZ1118: 'no SQLite binding',
  LZ1119: 'value cannot be stored',
  LZ1120: 'database failed',
  LZ1121: 'journal does not answer',
  LZ1130: 'broker cannot be reached',
  LZ1131: 'broker refuses the login',
  LZ1132: 'broker refuses a request',
  // 12xx: handlers
  LZ1201: 'handler file does not load',
  LZ1202: 'handler file exports no function',
  LZ1203: 'handler passed its deadline',
  LZ1204: 'named outcome is not possible here',
  LZ1205: 'child process died',
  LZ1206: 'message is not ours any more',
  LZ1207: 'app is stopping',
  LZ1208: 'message was not sent',
  LZ1209: 'dependency may not be called now',
  // 13xx: command line
  LZ1301: 'input cannot be read',
  LZ1302: 'no such queue',
  LZ1303: 'no such message',
  LZ1304: 'nothing selected',
  LZ1305: 'command line cannot be understood',
  LZ1306: 'no such database file',
  LZ1307: 'queue holds messages of others',
} as const;

export type ErrorCode = keyof typeof ERRORS;

const BRAND = Symbol.for('lazaret.error');

/** An error with a code. Recognise it with `isLazaretError`, which also holds across two installed copies of the package. */
export class LazaretError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(options.hint === undefined ? message : `${message} ${options.hint}`, { cause: options.cause });
    this.name = 'LazaretError';
    this.code = code;
    this.hint = options.hint;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Never throws, whatever is asked about. */
export function isLazaretError(value: unknown): value is LazaretError {
  try {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
  } catch {
    return false;
  }
}
