import { LazaretError } from '../../core/errors.ts';

/** What a query answers: only what the driver reads of it. */
export interface PgResult {
  readonly rows: readonly PgRow[];
}

export type PgRow = Readonly<Record<string, unknown>>;

/** As `pg` takes it. A name: the statement is prepared once for each connection. */
export interface PgQuery {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly name?: string;
}

/** One connection of a pool, as `pg` gives it. */
export interface PgConnection {
  query(query: PgQuery): Promise<PgResult>;
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  on(event: 'error' | 'end', listener: (error: Error) => void): unknown;
  /** `true`: it is not used again. */
  release(destroy?: boolean): void;
}

/** A pool of `pg`, or what behaves as one. */
export interface PgPool {
  readonly options?: { readonly max?: number };
  query(query: PgQuery): Promise<PgResult>;
  connect(): Promise<PgConnection>;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

export interface PoolSettings {
  readonly url: string;
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

interface PgModule {
  readonly Pool: new (config: Readonly<Record<string, unknown>>) => PgPool;
}

/** Opens a pool of our own; it connects when it is asked. Rejects with LZ1101 where `pg` is not installed. */
export async function openPool(settings: PoolSettings): Promise<PgPool> {
  const { Pool } = await loadPg();
  return new Pool({
    connectionString: settings.url,
    max: settings.connections,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    // n.b. the server ends a statement first, so that a connection that answers late can be used again.
    statement_timeout: settings.statementTimeoutMs,
    query_timeout: settings.statementTimeoutMs + 5_000,
    keepAlive: true,
    application_name: 'lazaret',
    allowExitOnIdle: true,
  });
}

async function loadPg(): Promise<PgModule> {
  try {
    const loaded = (await import('pg')) as unknown as { readonly default?: PgModule } & PgModule;
    return loaded.default ?? loaded;
  } catch (error) {
    throw new LazaretError('LZ1101', "the PostgreSQL driver needs the package 'pg'.", {
      hint: 'Run: npm install pg@8',
      cause: error,
    });
  }
}
