import { checkParameters, countParameters, type Database, type Row, type Statement } from './contract.ts';

/** The part of better-sqlite3 that we use. */
export interface BetterDatabase {
  prepare(sql: string): BetterStatement;
  exec(sql: string): unknown;
  close(): unknown;
}

interface BetterStatement {
  /** Whether it answers with rows; the setters below throw where it does not. */
  readonly reader: boolean;
  run(...parameters: unknown[]): { changes: number };
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  raw(on: boolean): unknown;
  safeIntegers(on: boolean): unknown;
}

/** `isOurs`: closing ours closes the database too. */
export function fromBetterSqlite3(database: BetterDatabase, binding: string, isOurs: boolean): Database {
  return {
    binding,
    prepare: (sql, options) => statement(database.prepare(sql), countParameters(sql), options?.bigints === true),
    exec: (sql) => void database.exec(sql),
    close() {
      if (isOurs) database.close();
    },
  };
}

function statement(prepared: BetterStatement, parameterCount: number, bigints: boolean): Statement {
  if (prepared.reader) {
    prepared.raw(true);
    if (bigints) prepared.safeIntegers(true);
  }
  return {
    run: (...parameters) => prepared.run(...checkParameters(parameters, parameterCount)).changes,
    get: (...parameters) => prepared.get(...checkParameters(parameters, parameterCount)) as Row | undefined,
    all: (...parameters) => prepared.all(...checkParameters(parameters, parameterCount)) as Row[],
  };
}
