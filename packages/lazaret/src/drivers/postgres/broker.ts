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
import { CAPABILITIES } from './capabilities.ts';
import { openPool } from './client.ts';
import { Database } from './database.ts';
import { explained } from './errors.ts';
import { Facts } from './facts.ts';
import { Letters } from './letters.ts';
import { migrate } from './migrate.ts';
import { type PostgresOptions, type PostgresSettings, readOptions } from './options.ts';
import { Publishing } from './publish.ts';
import { Queues } from './queues.ts';
import { Settling } from './settle.ts';
import { TableSharedState } from './shared-state.ts';
import { type Parts, PostgresSubscription } from './subscription.ts';
import { Upkeep } from './upkeep.ts';
import { WakeUp } from './wake-up.ts';

const FEWEST_TO_LISTEN = 2;

/** A broker in a schema of a PostgreSQL database, and what else the tables can tell. */
export interface PostgresBroker extends Broker {
  readonly letters: LetterBox;
  readonly shared: SharedState;
  /** `false`: behind a pooler that shares connections between transactions, or with a pool of one, so that new messages are looked for. */
  readonly listens: boolean;
  /** All queues of the schema, by name. */
  queues(): Promise<readonly (QueueFacts & { readonly name: string })[]>;
}

/** Connects, and makes the tables where they are missing. Rejects with LZ10xx for options that cannot be meant, else as `migrate` does. */
export async function openPostgres(options: PostgresOptions & { readonly system: System }): Promise<PostgresBroker> {
  const { system, ...rest } = options;
  const settings = readOptions(rest);
  const { pool, schema, place } = settings;
  const database = new Database(pool ?? (await openOwn(settings)), pool === undefined, schema, place, system);
  // Until it is known who is at the other end.
  database.prepares = false;
  const wakeUp = new WakeUp(database, system);
  try {
    await migrate(database, settings.provision);
    // n.b. who listens keeps a connection, and somebody has to ask.
    const canListen = (database.size ?? FEWEST_TO_LISTEN) >= FEWEST_TO_LISTEN;
    if (canListen) database.prepares = await wakeUp.listen();
    return new TableBroker(database, wakeUp, settings, system);
  } catch (error) {
    await wakeUp.end();
    await database.close();
    throw error;
  }
}

function openOwn({
  url,
  connections,
  connectTimeoutMs,
  statementTimeoutMs,
}: PostgresSettings): ReturnType<typeof openPool> {
  return openPool({ url: url!, connections, connectTimeoutMs, statementTimeoutMs });
}

class TableBroker implements PostgresBroker {
  readonly name = 'postgres';
  readonly letters: LetterBox;
  readonly shared: SharedState;
  readonly listens: boolean;
  readonly #database: Database;
  readonly #parts: Parts;
  readonly #queues: Queues;
  readonly #publishing: Publishing;
  readonly #facts: Facts;
  readonly #upkeep: Upkeep;
  #closed: Promise<void> | undefined;

  constructor(database: Database, wakeUp: WakeUp, settings: PostgresSettings, system: System) {
    this.listens = database.prepares;
    this.letters = new Letters(database, wakeUp);
    this.shared = new TableSharedState(database);
    this.#database = database;
    this.#parts = { database, system, settling: new Settling(database), wakeUp, subscriptions: new Set() };
    this.#queues = new Queues(database, settings.provision);
    this.#publishing = new Publishing(database, system, settings.dedupeWindowMs);
    this.#facts = new Facts(database);
    this.#upkeep = new Upkeep(database, system, settings.letterRetentionMs);
  }

  async subscribe(queueName: string, options: SubscribeOptions): Promise<Subscription> {
    this.#database.checkOpen();
    checkQueueName(queueName);
    refuseForeignOptions(options);
    const { schema } = this.#database;
    const queue = await this.#explained(async () => {
      const id = await this.#queues.findOrCreate(queueName);
      // Consumers without order, before us, may have taken away what others were behind.
      if (options.order === 'key') await this.#database.ask('heads', `SELECT ${schema}.promote_heads_1($1)`, [id]);
      return id;
    });
    return new PostgresSubscription(this.#parts, queueName, queue, options);
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
    this.#database.checkOpen();
    if (typeof to === 'object') return messages.map(() => 'unroutable');
    checkQueueName(to);
    const delayMs = checkDelay(options.delayMs ?? 0);
    let queue: number;
    try {
      queue = await this.#queues.findOrCreate(to);
    } catch (error) {
      const isMissing = error instanceof LazaretError && error.code === 'LZ1302';
      const failure = isMissing ? 'unroutable' : explained(error, this.#database.place);
      return messages.map(() => failure);
    }
    const results = await this.#publishing.publish(queue, messages, delayMs);
    if (results.includes('done') || results.includes('unknown')) this.#parts.wakeUp.touched(queue);
    return results;
  }

  async inspect(queueName: string): Promise<QueueFacts> {
    const queue = await this.#find(queueName);
    return queue === undefined ? { ready: 0, delayed: 0, leased: 0, dead: 0 } : this.#facts.of(queue);
  }

  async browse(queueName: string, from: string | undefined, max: number): Promise<Page<Message>> {
    const queue = await this.#find(queueName);
    return queue === undefined ? { items: [] } : this.#facts.browse(queue, from, max);
  }

  async provision(queueName: string, wanted: QueueWanted): Promise<ProvisionPlan> {
    const steps: ProvisionStep[] = [];
    if ((await this.#find(queueName)) === undefined) {
      steps.push({ action: 'create', what: `queue '${queueName}'`, why: 'the database has none of this name' });
    }
    if (wanted.deadLetter !== undefined) {
      steps.push({
        action: 'unsupported',
        what: `dead-letter queue '${wanted.deadLetter}'`,
        why: 'dead letters stay in the same schema, each under the name of its own queue',
      });
    }
    return { steps, apply: () => this.#explained(async () => void (await this.#queues.create(queueName))) };
  }

  async queues(): Promise<readonly (QueueFacts & { readonly name: string })[]> {
    const queues = await this.#explained(() => this.#queues.list());
    return Promise.all(queues.map(async ({ id, name }) => ({ name, ...(await this.#facts.of(id)) })));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const subscription of [...this.#parts.subscriptions]) await subscription.close();
    this.#upkeep.end();
    await this.#parts.wakeUp.end();
    await this.#database.close();
  }

  async #find(queueName: string): Promise<number | undefined> {
    this.#database.checkOpen();
    checkQueueName(queueName);
    return this.#explained(() => this.#queues.find(queueName));
  }

  async #explained<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw explained(error, this.#database.place);
    }
  }
}

function refuseForeignOptions({ group, deadLetter }: SubscribeOptions): void {
  if (group !== undefined) {
    throw new LazaretError('LZ1004', `A queue in PostgreSQL has no consumer groups, but '${group}' was asked for.`, {
      hint: 'Leave the group out; to let two services see every message, publish to a queue of each.',
    });
  }
  if (deadLetter !== undefined) {
    throw new LazaretError('LZ1004', `Dead letters stay in the schema; there is no queue '${deadLetter}' for them.`, {
      hint: 'Leave the dead-letter queue out.',
    });
  }
}
