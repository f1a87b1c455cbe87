import { RECONNECT_MS } from '../../drivers/memory/options.ts';
import type { Broker } from '../../ports/broker.ts';
import { createApp } from '../../runtime/app.ts';
import type { Life, Send } from './ledger.ts';
import { Link } from './link.ts';
import { type Client, observedWire } from './observed-wire.ts';
import type { Stage } from './stage.ts';
import { VirtualSystem } from './virtual-system.ts';
import { Wire } from './wire.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const SENT_AGAIN_AFTER_MS = 500;
const SENDS_AT_MOST = 6;
const HALF_OPEN_MS = 3_000;

/** Sends every message when its time has come, and knows what the server confirmed. */
export class Producer implements Client {
  readonly name = 'producer';
  readonly system: VirtualSystem;
  readonly #stage: Stage;
  readonly #broker: Broker;
  readonly #wire: Wire;
  readonly #app: ReturnType<typeof createApp>;
  #connectedAgainAt = 0;

  constructor(stage: Stage) {
    const { time, chance, server, scenario } = stage;
    const own = chance.fork(9);
    this.#stage = stage;
    this.system = new VirtualSystem({ time, chance: own.fork(1), name: this.name, skewMs: 0, latenessMs: 0 });
    this.#broker = server.connect();
    this.#wire = new Wire({ time, chance: own.fork(2), system: this.system, latencyMs: scenario.latencyMs });
    const link = new Link(this.#broker, this.#wire, observedWire(stage, this));
    this.#app = createApp({
      driver: { name: 'memory', connect: async () => link },
      system: this.system,
      logger: SILENT,
      group: undefined,
      version: undefined,
      waitMs: 1_000,
    });
  }

  start(): void {
    const { time, ledger } = this.#stage;
    for (const life of ledger.lives) time.at(life.plan.sentAt, () => void this.#send(life));
  }

  async #send(life: Life): Promise<void> {
    const { time, trace, ledger, reached } = this.#stage;
    const { index, key, delayMs, deduped, insistent } = life.plan;
    const send: Send = { at: time.now, answer: 'none yet', answeredAt: undefined };
    life.sends.push(send);
    if (life.sends.length > 1) reached.add('a message is sent again');
    if (delayMs > 0) reached.add('a message is delayed when it is sent');
    ledger.promise(life, 1, time.now + delayMs);
    try {
      await this.#app.send(
        life.queue.name,
        { index },
        {
          id: life.id,
          ...(key === undefined ? {} : { key: `k${key}` }),
          ...(delayMs === 0 ? {} : { delay: `${delayMs}ms` }),
          ...(deduped ? { dedupeId: life.id } : {}),
        },
      );
      send.answer = 'done';
    } catch (thrown) {
      send.answer = (thrown as Error).message.includes('unknown') ? 'unknown' : 'not stored';
    }
    send.answeredAt = time.now;
    if (send.answer === 'unknown') reached.add('a message may have been sent twice');
    trace.add(time.now, 'producer', 'has sent', index, send.answer);
    if (send.answer !== 'done' && insistent && life.sends.length < SENDS_AT_MOST) {
      this.system.wait(SENT_AGAIN_AFTER_MS, () => void this.#send(life));
    }
  }

  /** Nothing of it is under way. */
  get isDone(): boolean {
    return this.#stage.ledger.lives.every(({ sends, plan }) => {
      const last = sends.at(-1);
      if (last === undefined || last.answer === 'none yet') return false;
      return last.answer === 'done' || !plan.insistent || sends.length >= SENDS_AT_MOST;
    });
  }

  note(what: string, note?: string, message?: number): void {
    this.#stage.trace.add(this.#stage.time.now, this.name, what, message, note);
  }

  readonly isStopping = false;

  troubled(): void {}

  get isConnected(): boolean {
    return this.#stage.time.now > this.#connectedAgainAt;
  }

  lookAtConnection(): void {
    if (this.#wire.silentMs > HALF_OPEN_MS) this.cut();
  }

  cut(): void {
    const { time, server, scenario } = this.#stage;
    this.#connectedAgainAt = time.now + (scenario.server.reconnectMs ?? RECONNECT_MS);
    server.cut(this.#broker);
  }

  stop(): void {
    this.system.end();
    this.#stage.server.kill(this.#broker);
  }
}
