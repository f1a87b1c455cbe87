import {
  checkParameters,
  countParameters,
  type Database,
  type Parameter,
  type Row,
  type Statement,
} from './contract.ts';

/** The part of `node:sqlite` that we use; @photostructure/sqlite has the same. */
export interface NodeDatabase {
  prepare(sql: string): NodeStatement;
  exec(sql: string): void;
  close(): void;
  /** Absent before Node 22.15. */
  readonly isOpen?: boolean;
}

interface NodeStatement {
  run(...parameters: unknown[]): { changes: number | bigint };
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  setReadBigInts(on: boolean): void;
  /** Absent before Node 22.16. */
  setReturnArrays?(on: boolean): void;
}

/**
 * `isOurs`: closing ours closes the database too.
 *
 * n.b. @photostructure/sqlite has no way to finalize a statement: after `close` the file stays open until all are collected.
 */
export function fromNodeSqlite(database: NodeDatabase, binding: string, isOurs: boolean): Database {
  let closed = false;
  return {
    binding,
    prepare: (sql, options) => statement(database.prepare(sql), countParameters(sql), options?.bigints === true),
    exec: (sql) => database.exec(sql),
    close() {
      if (isOurs && !closed && database.isOpen !== false) database.close();
      closed = true;
    },
  };
}

function statement(prepared: NodeStatement, parameterCount: number, bigints: boolean): Statement {
  if (bigints) prepared.setReadBigInts(true);
  const run = (...parameters: Parameter[]) =>
    Number(prepared.run(...checkParameters(parameters, parameterCount)).changes);
  if (prepared.setReturnArrays !== undefined) {
    prepared.setReturnArrays(true);
    return {
      run,
      get: (...parameters) => prepared.get(...checkParameters(parameters, parameterCount)) as Row | undefined,
      all: (...parameters) => prepared.all(...checkParameters(parameters, parameterCount)) as Row[],
    };
  }
  return {
    run,
    get(...parameters) {
      const row = prepared.get(...checkParameters(parameters, parameterCount));
      return row === undefined ? undefined : columns(row);
    },
    all: (...parameters) => prepared.all(...checkParameters(parameters, parameterCount)).map(columns),
  };
}

/** n.b. two columns of one name would become one here: our statements name theirs apart. */
function columns(row: unknown): Row {
  return Object.values(row as Record<string, Row[number]>);
}
