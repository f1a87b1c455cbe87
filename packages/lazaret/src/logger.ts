import type { LogFields, Logger } from './ports/logger.ts';
import type { System } from './ports/system.ts';

/** Warnings and errors on stderr, one JSON line each, so that whatever a message put into a field stays inside its quotes. */
export function stderrLogger(system: System): Logger {
  const write = (level: string, event: string, fields: LogFields = {}) => {
    const at = new Date(system.now()).toISOString();
    process.stderr.write(`${JSON.stringify({ at, level, lazaret: event, ...fields })}\n`);
  };
  return {
    debug() {},
    info() {},
    warn: (event, fields) => write('warn', event, fields),
    error: (event, fields) => write('error', event, fields),
  };
}
