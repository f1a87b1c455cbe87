/** What one output stream can show. Each stream is asked for itself: stdout may go into a pipe while stderr is a terminal. */
export interface Terminal {
  /** A person looks at it; otherwise it is a pipe or a file. */
  readonly interactive: boolean;
  readonly colours: boolean;
  /** `false`: the locale is not UTF-8, so symbols and letters beyond ASCII are spelled out. */
  readonly unicode: boolean;
  readonly columns: number;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const COLUMNS = 80;
const NARROWEST = 40;

/**
 * Colours: a flag decides, else FORCE_COLOR, CLICOLOR_FORCE, NO_COLOR, LAZARET_NO_COLOR, TERM=dumb, and whether it is a terminal.
 * LAZARET_FORCE_TTY=120 makes a pipe a terminal of 120 columns, for docs and tests.
 */
export function terminalOf(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: Environment,
  flag: boolean | undefined,
): Terminal {
  const forced = Number(env.LAZARET_FORCE_TTY);
  const interactive = stream.isTTY === true || forced > 0;
  return {
    interactive,
    colours: flag ?? wantsColours(env) ?? (stream.isTTY === true && env.TERM !== 'dumb'),
    unicode: !interactive || speaksUtf8(env),
    columns: Math.max(NARROWEST, forced > 1 ? forced : (stream.columns ?? COLUMNS)),
  };
}

function wantsColours(env: Environment): boolean | undefined {
  if (isOn(env.FORCE_COLOR) || isOn(env.CLICOLOR_FORCE)) return true;
  if (env.FORCE_COLOR === '0' || env.NO_COLOR || env.LAZARET_NO_COLOR) return false;
  return undefined;
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0';
}

/** The first of these that is set decides, as in POSIX. Windows sets none, and its terminals speak UTF-8. */
function speaksUtf8(env: Environment): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  if (!locale) return env.OS === 'Windows_NT';
  return /utf-?8/i.test(locale);
}
