import type { LogFields, Logger } from './ports/logger.ts';

/** Warnings and errors on stderr, one JSON line each, so that whatever a message put into a field stays inside its quotes. */
export const STDERR_LOGGER: Logger = {
  debug() {},
  info() {},
  warn: (event, fields) => write('warn', event, fields),
  error: (event, fields) => write('error', event, fields),
};

function write(level: string, event: string, fields: LogFields = {}): void {
  process.stderr.write(`${JSON.stringify({ level, lazaret: event, ...fields })}\n`);
}
