import type { Driver } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import { openPostgres, type PostgresBroker } from './broker.ts';
import type { PostgresOptions } from './options.ts';

export type { Letter, LetterBox, LetterQuery, ReleaseResult } from '../../ports/letter-box.ts';
export { openPostgres, type PostgresBroker } from './broker.ts';
export type { PgConnection, PgPool, PgQuery, PgResult, PgRow } from './client.ts';
export type { PostgresOptions } from './options.ts';

/** PostgreSQL where an app takes a broker: `lazaret({ broker: postgres({ url }) })`, or with your own pool. Connected when the app starts. */
export function postgres(options: PostgresOptions): PostgresDriver {
  return { name: 'postgres', connect: (system) => openPostgres({ ...options, system }) };
}

export interface PostgresDriver extends Driver {
  connect(system: System): Promise<PostgresBroker>;
}
