import type { Driver } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import { openSqlite, type SqliteBroker } from './broker.ts';
import type { SqliteOptions } from './options.ts';

export type { Letter, LetterBox, LetterQuery, ReleaseResult } from '../../ports/letter-box.ts';
export {
  type BindingName,
  type Database,
  openBinding,
  type Parameter,
  type Row,
  type SqliteDatabase,
  type Statement,
  type Value,
} from '../../sqlite/binding.ts';
export { type FileDescription, openSqlite, type SqliteBroker } from './broker.ts';
export type { SqliteOptions } from './options.ts';

/** SQLite where an app takes a broker: `lazaret({ broker: sqlite({ file: './orders.db' }) })`. Opened when the app starts. */
export function sqlite(options: SqliteOptions): SqliteDriver {
  return { name: 'sqlite', connect: (system) => openSqlite({ ...options, system }) };
}

export interface SqliteDriver extends Driver {
  connect(system: System): Promise<SqliteBroker>;
}
