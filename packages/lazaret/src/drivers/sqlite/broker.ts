import { LazaretError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import { checkQueueName } from '../../core/queue-name.ts';
import { checkDelay } from '../../core/table-delay.ts';
import type {
  Address,
  Broker,
  OutgoingMessage,
  Page,
  ProvisionPlan,
  ProvisionStep,
  PublishOptions,
  PublishResult,
  QueueFacts,
  QueueWanted,
  SubscribeOptions,
  Subscription,
} from '../../ports/broker.ts';
import type { Capabilities } from '../../ports/capabilities.ts';
import type { LetterBox } from '../../ports/letter-box.ts';
import type { SharedState } from '../../ports/shared-state.ts';
import type { System } from '../../ports/system.ts';
import type { Statement } from '../../sqlite/binding.ts';
import { asError, explained } from '../../sqlite/errors.ts';
import { type OpenDatabase, openDatabase } from '../../sqlite/open.ts';
import { promised, Writer } from '../../sqlite/writer.ts';
import { CAPABILITIES } from './capabilities.ts';
import { Checkpoints } from './checkpoint.ts';
import { Claims } from './claim.ts';
import { Facts } from './facts.ts';
import { Letters } from './letters.ts';
import { readOptions, type SqliteOptions, type SqliteSettings } from './options.ts';
import { Publishing } from './publish.ts';
import { Queues } from './queues.ts';
import { BROKER, SCHEMA_VERSION } from './schema.ts';
import { Settling } from './settle.ts';
import { FileSharedState } from './shared-state.ts';
import { type Parts, SqliteSubscription } from './subscription.ts';
import { Suspects, suspectCount } from './suspects.ts';
import { Upkeep } from './upkeep.ts';
import { WakeUp } from './wake-up.ts';

/** A broker in one SQLite file, and what else the file can tell. */
export interface SqliteBroker extends Broker {
  readonly letters: LetterBox;
  readonly shared: SharedState;
  /** All queues of the file, by name. */
  queues(): Promise<readonly (QueueFacts & { readonly name: string })[]>;
  describe(): FileDescription;
}

/** For people: what is open, and how. */
export interface FileDescription {
  readonly file: string;
  /** Which SQLite binding, with its version where it tells one. */
  readonly binding: string;
  readonly sqliteVersion: string;
  readonly schemaVersion: number;
  readonly journalMode: string;
  readonly sizeBytes: number;
  readonly warnings: readonly string[];
}

/** Opens `options.file`, creating it where it does not exist. Throws LZ10xx for options that cannot be meant, LZ111x for the file. */
export async function openSqlite(options: SqliteOptions & { readonly system: System }): Promise<SqliteBroker> {
  const { system, ...rest } = options;
  const settings = readOptions(rest);
  return new FileBroker(await openDatabase(settings, system, BROKER), settings, system);
}

class FileBroker implements SqliteBroker {
  readonly name = 'sqlite';
  readonly letters: LetterBox;
  readonly shared: SharedState;
  readonly #open: OpenDatabase;
  readonly #parts: Parts;
  readonly #queues: Queues;
  readonly #publishing: Publishing;
  readonly #facts: Facts;
  readonly #checkpoints: Checkpoints;
  readonly #upkeep: Upkeep;
  readonly #suspectCount: Statement;
  #closed: Promise<void> | undefined;

  constructor(open: OpenDatabase, settings: SqliteSettings, system: System) {
    const { db, file } = open;
    this.#open = open;
    const checkpoints = new Checkpoints(db, system);
    const wakeUp = new WakeUp(db, system);
    const writer = new Writer(db, file, system, settings.lockTimeoutMs, {
      committed: () => {
        wakeUp.committed();
        checkpoints.wrote();
      },
    });
    const queues = new Queues(db);
    const claims = new Claims(db);
    const letters = new Letters(db, system, queues, wakeUp);
    this.letters = letters.box(writer, this.#read);
    this.shared = new FileSharedState(db, system, writer, this.#read);
    const settling = new Settling(db, system, claims, letters, wakeUp);
    this.#parts = { file, system, writer, claims, wakeUp, settling, subscriptions: new Set() };
    this.#queues = queues;
    this.#publishing = new Publishing(db, system, queues, wakeUp, settings.dedupeWindowMs);
    this.#facts = new Facts(db, system);
    this.#checkpoints = checkpoints;
    this.#upkeep = new Upkeep(db, system, writer, queues, claims, letters, settings);
    this.#suspectCount = suspectCount(db);
  }

  async subscribe(queueName: string, options: SubscribeOptions): Promise<Subscription> {
    this.#checkOpen();
    checkQueueName(queueName);
    refuseForeignOptions(options);
    const queue = await this.#create(queueName, options.order);
    const suspects = new Suspects(this.#suspectCount, this.#parts.system, queue, options.suspects);
    return new SqliteSubscription(this.#parts, queueName, queue, options, suspects);
  }

  async capabilities(queue: string): Promise<Capabilities> {
    checkQueueName(queue);
    return CAPABILITIES;
  }

  async publish(
    to: Address,
    messages: readonly OutgoingMessage[],
    options: PublishOptions = {},
  ): Promise<readonly PublishResult[]> {
    this.#checkOpen();
    if (typeof to === 'object') return messages.map(() => 'unroutable');
    checkQueueName(to);
    const delayMs = checkDelay(options.delayMs ?? 0);
    return promised((answer) => this.#parts.writer.submit(this.#publishing.work(to, messages, delayMs, answer)));
  }

  async inspect(queueName: string): Promise<QueueFacts> {
    return this.#read(() => {
      const queue = this.#queues.find(checkQueueName(queueName));
      return queue === undefined ? { ready: 0, delayed: 0, leased: 0, dead: 0 } : this.#facts.of(queue);
    });
  }

  async browse(queueName: string, from: string | undefined, max: number): Promise<Page<Message>> {
    return this.#read(() => {
      const queue = this.#queues.find(checkQueueName(queueName));
      return queue === undefined ? { items: [] } : this.#facts.browse(queue, from, max);
    });
  }

  async provision(queueName: string, wanted: QueueWanted): Promise<ProvisionPlan> {
    const steps: ProvisionStep[] = [];
    if (this.#read(() => this.#queues.find(checkQueueName(queueName))) === undefined) {
      steps.push({ action: 'create', what: `queue '${queueName}'`, why: 'the file has none of this name' });
    }
    if (wanted.deadLetter !== undefined) {
      steps.push({
        action: 'unsupported',
        what: `dead-letter queue '${wanted.deadLetter}'`,
        why: 'dead letters stay in the same file, each under the name of its own queue',
      });
    }
    return { steps, apply: async () => void (await this.#create(queueName, 'none')) };
  }

  async queues(): Promise<readonly (QueueFacts & { readonly name: string })[]> {
    return this.#read(() => this.#queues.list().map(({ id, name }) => ({ name, ...this.#facts.of(id) })));
  }

  describe(): FileDescription {
    const { db, file, warnings } = this.#open;
    const ask = (sql: string) => this.#read(() => db.prepare(sql).get()?.[0]);
    return {
      file,
      binding: db.binding,
      sqliteVersion: String(ask('SELECT sqlite_version()')),
      schemaVersion: SCHEMA_VERSION,
      journalMode: String(ask('PRAGMA journal_mode')),
      sizeBytes: Number(ask('PRAGMA page_count')) * Number(ask('PRAGMA page_size')),
      warnings,
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw new LazaretError('LZ1102', `The broker on '${this.#open.file}' is closed.`);
  }

  /** Arrow: the letter box reads by it too. */
  readonly #read = <T>(read: () => T): T => {
    this.#checkOpen();
    try {
      return read();
    } catch (error) {
      throw explained(error, this.#open.file);
    }
  };

  async #close(): Promise<void> {
    for (const subscription of [...this.#parts.subscriptions]) await subscription.close();
    this.#upkeep.end();
    this.#parts.writer.end();
    this.#checkpoints.end();
    this.#open.db.close();
  }

  async #create(queueName: string, order: 'none' | 'key'): Promise<number> {
    const known = this.#queues.find(queueName);
    if (known !== undefined && order === 'none') return known;
    return new Promise((resolve, reject) => {
      let failure: Error | undefined;
      let queue = 0;
      this.#parts.writer.submit({
        kind: 'write',
        durable: false,
        size: 1,
        apply: () => {
          queue = this.#queues.findOrCreate(queueName);
          // Consumers without order, before us, may have taken away what others were behind.
          if (order === 'key') this.#parts.claims.promoteHeads(queue);
        },
        fail: (_from, _to, error) => {
          failure = error;
        },
        finish: () => (failure === undefined ? resolve(queue) : reject(asError(failure))),
      });
    });
  }
}

function refuseForeignOptions({ group, deadLetter }: SubscribeOptions): void {
  if (group !== undefined) {
    throw new LazaretError('LZ1004', `A queue in SQLite has no consumer groups, but '${group}' was asked for.`, {
      hint: 'Leave the group out; to let two services see every message, publish to a queue of each.',
    });
  }
  if (deadLetter !== undefined) {
    throw new LazaretError('LZ1004', `Dead letters stay in the file; there is no queue '${deadLetter}' for them.`, {
      hint: 'Leave the dead-letter queue out.',
    });
  }
}
