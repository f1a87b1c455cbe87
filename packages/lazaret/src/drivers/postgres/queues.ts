import { LazaretError } from '../../core/errors.ts';
import type { Database } from './database.ts';
import { loadText, storeText } from './text.ts';

/** Names of queues and the small numbers that stand for them in every row. A number, once given, is forever. */
export class Queues {
  readonly #database: Database;
  readonly #provision: 'all' | 'never';
  readonly #known = new Map<string, number>();

  constructor(database: Database, provision: 'all' | 'never') {
    this.#database = database;
    this.#provision = provision;
  }

  /** `undefined` where there is none of this name yet. Rejects with the client's error. */
  async find(name: string): Promise<number | undefined> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const text = `SELECT id FROM ${this.#database.schema}.queues WHERE name = $1`;
    return this.#learn(name, await this.#database.ask('queue', text, [storeText(name)]));
  }

  /** Makes it where it is missing, and may be made; else rejects with LZ1302. */
  async findOrCreate(name: string): Promise<number> {
    const found = await this.find(name);
    if (found !== undefined) return found;
    if (this.#provision === 'never') {
      throw new LazaretError('LZ1302', `There is no queue '${name}' in PostgreSQL at ${this.#database.place}.`, {
        hint: "Provision it, or leave out provision: 'never'.",
      });
    }
    return this.create(name);
  }

  async create(name: string): Promise<number> {
    const text = `INSERT INTO ${this.#database.schema}.queues (name) VALUES ($1) ON CONFLICT DO NOTHING`;
    await this.#database.ask('make_queue', text, [storeText(name)]);
    return (await this.find(name))!;
  }

  /** All of them, by number. */
  async list(): Promise<readonly { readonly id: number; readonly name: string }[]> {
    const text = `SELECT id, name FROM ${this.#database.schema}.queues ORDER BY id`;
    const rows = await this.#database.ask('queues', text, []);
    return rows.map(({ id, name }) => ({ id: id as number, name: loadText(name as string) }));
  }

  #learn(name: string, [row]: readonly Readonly<Record<string, unknown>>[]): number | undefined {
    if (row === undefined) return undefined;
    this.#known.set(name, row.id as number);
    return row.id as number;
  }
}
