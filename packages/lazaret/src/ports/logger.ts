/** Where Lazaret speaks. Fields are plain data, bounded, and never hold a message's body. `console`-like and pino-like loggers fit through an adapter of one line. */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;
