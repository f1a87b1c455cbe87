import { LazaretError } from '../../core/errors.ts';

/** What the driver uses of ioredis: `new Redis(…)` or `new Cluster(…)` fit, and so does what behaves like them. */
export interface RedisClient {
  /** Any command; bulk strings are answered as bytes. */
  callBuffer(command: string, ...values: (string | number | Uint8Array)[]): Promise<unknown>;
  /** Another client with the same settings, for reads that block. */
  duplicate(override?: Readonly<Record<string, unknown>>): RedisClient;
  on(event: 'error' | 'end', listener: (error: Error) => void): unknown;
  connect?(): Promise<unknown>;
  disconnect(): void;
  readonly status?: string;
}

export interface ClientSettings {
  readonly url: string;
  readonly connectTimeoutMs: number;
  readonly answerTimeoutMs: number;
}

interface IoredisModule {
  readonly Redis: new (url: string, options: Readonly<Record<string, unknown>>) => RedisClient;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** A client of our own, not connected yet. Rejects with LZ1101 where ioredis is not installed. */
export async function makeClient({ url, connectTimeoutMs, answerTimeoutMs }: ClientSettings): Promise<RedisClient> {
  const { Redis } = await loadIoredis();
  return new Redis(url, {
    lazyConnect: true,
    connectTimeout: connectTimeoutMs,
    commandTimeout: answerTimeoutMs,
    connectionName: 'lazaret',
    // n.b. what is not answered when the connection goes is for us to send again, and what cannot be sent is refused at once.
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times: number) => Math.min(FIRST_PAUSE_MS * 2 ** Math.min(times - 1, 10), LONGEST_PAUSE_MS),
  });
}

async function loadIoredis(): Promise<IoredisModule> {
  try {
    const loaded = (await import('ioredis')) as unknown as IoredisModule & { readonly default?: IoredisModule };
    return loaded.Redis === undefined ? loaded.default! : loaded;
  } catch (error) {
    throw new LazaretError('LZ1101', "the Redis driver needs the package 'ioredis'.", {
      hint: 'Run: npm install ioredis@6',
      cause: error,
    });
  }
}
