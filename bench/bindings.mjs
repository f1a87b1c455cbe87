/** Ways to reach SQLite from Node, by the names that Lazaret gives them. */
export const BINDINGS = ['better-sqlite3', '@photostructure/sqlite', 'node:sqlite'];

/** A connection of `binding`. All three have `exec`, and statements with positional `run`, `get` and `all`. */
export async function openDatabase(binding, file) {
  if (binding === 'better-sqlite3') return new (await import('better-sqlite3')).default(file);
  return new (await import(binding)).DatabaseSync(file);
}

/** Rows as arrays: the fastest that each binding can do. */
export function inArrays(statement) {
  if (statement.raw !== undefined) statement.raw(true);
  else statement.setReturnArrays(true);
  return statement;
}

/** What is measured: '12.11.1', or for `node:sqlite` the version of Node. */
export async function versionsOf(binding) {
  const db = await openDatabase(binding, ':memory:');
  const [sqlite] = inArrays(db.prepare('SELECT sqlite_version()')).get();
  db.close();
  return {
    binding: binding === 'node:sqlite' ? process.versions.node : await packageVersion(binding),
    sqlite,
    node: process.versions.node,
  };
}

async function packageVersion(name) {
  const { createRequire } = await import('node:module');
  return createRequire(import.meta.url)(`${name}/package.json`).version;
}
