import type { Database, Statement } from '../../sqlite/binding.ts';
import { loadText } from '../../sqlite/text.ts';

/** Names of queues and the small numbers that stand for them in every row. A number, once committed, is forever. */
export class Queues {
  readonly #known = new Map<string, number>();
  readonly #find: Statement;
  readonly #create: Statement;
  readonly #all: Statement;

  constructor(db: Database) {
    this.#find = db.prepare('SELECT id FROM lazaret_queues WHERE name = ?');
    this.#create = db.prepare('INSERT INTO lazaret_queues (name) VALUES (?) ON CONFLICT DO NOTHING');
    this.#all = db.prepare('SELECT id, name FROM lazaret_queues ORDER BY name');
  }

  /** `undefined` where there is none of this name yet. */
  find(name: string): number | undefined {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const id = this.#find.get(name)?.[0] as number | undefined;
    if (id !== undefined) this.#known.set(name, id);
    return id;
  }

  /** Inside a transaction. n.b. not remembered, since the transaction may yet be rolled back. */
  findOrCreate(name: string): number {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    this.#create.run(name);
    return this.#find.get(name)?.[0] as number;
  }

  list(): readonly { readonly id: number; readonly name: string }[] {
    return this.#all.all().map(([id, name]) => ({ id: id as number, name: loadText(name as string | Uint8Array) }));
  }
}
