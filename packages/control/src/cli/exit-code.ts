/** What a shell is told. One table for all commands. */
export const EXIT = {
  ok: 0,
  /** The store, the broker, or a bug. */
  failed: 1,
  /** The command line or its configuration cannot be meant. */
  usage: 2,
  notFound: 3,
  /** Some of what was asked for was done. */
  partly: 7,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Codes of errors that are not a failure of ours: 10xx is configuration. */
const BY_CODE: Readonly<Record<string, ExitCode>> = {
  LZ1201: EXIT.usage,
  LZ1202: EXIT.usage,
  LZ1301: EXIT.usage,
  LZ1302: EXIT.notFound,
  LZ1303: EXIT.notFound,
  LZ1304: EXIT.usage,
  LZ1305: EXIT.usage,
  LZ1306: EXIT.notFound,
  LZ1307: EXIT.usage,
};

export function exitCodeOf(errorCode: string | undefined): ExitCode {
  if (errorCode === undefined) return EXIT.failed;
  return errorCode.startsWith('LZ10') ? EXIT.usage : (BY_CODE[errorCode] ?? EXIT.failed);
}
