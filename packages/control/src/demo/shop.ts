import { type App, type Broker, lazaret, Poison, type System } from 'lazaret';
import { leftOpen } from '../run/left-open.ts';
import { createGoods, type Order, QUEUES, type QueueName } from './goods.ts';
import type { Ledger } from './ledger.ts';
import type { Pace } from './pace.ts';
import { type Supervisor, supervise } from './supervisor.ts';

/** Three queues, their services, and customers who do not stop buying. */
export interface Shop {
  /** Takes the orders service down, and up again in another version. */
  deployOrders(version: OrdersVersion): Promise<void>;
  /** Whether the payments API answers. */
  payments: 'up' | 'down';
  readonly images: Supervisor;
  /** Starts the images service again, with the decoder mended. */
  mendImages(): Promise<void>;
  readonly bills: Bills;
  /** How many of each queue were sent so far. */
  readonly sent: Readonly<Record<QueueName, number>>;
  /** Customers stop; resolves when what they bought is sent. */
  closeDoors(): Promise<void>;
  /** Stops all services. */
  close(): Promise<void>;
}

type OrdersVersion = '1.4.0' | '1.5.0' | '1.5.1';

/** What happened to the bills: for each that was turned away the waits it was given, and those that are done. */
interface Bills {
  readonly waits: ReadonlyMap<string, readonly number[]>;
  readonly done: ReadonlySet<string>;
  /** How often their breaker opened. */
  readonly openings: number;
}

export interface ShopSetup {
  /** For the process that opens it by itself. */
  readonly db: string;
  readonly ledgerFile: string;
  readonly broker: Broker;
  readonly ledger: Ledger;
  readonly system: System;
  readonly pace: Pace;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Of the story. */
const TICK_MS = 250;
const PER_TICK: Readonly<Record<QueueName, number>> = { orders: 5, images: 2, billing: 2 };
const BACKOFF_MS = [2_000, 8_000, 30_000] as const;
/** A dead process is only noticed when its leases end; but a busy machine must not lose them. */
const LEASE_MS = 2_500;
const SHORTEST_LEASE_MS = 1_000;

export async function openShop(setup: ShopSetup): Promise<Shop> {
  const { broker, ledger, system, pace, random } = setup;
  const goods = createGoods(random);
  const bills = { waits: new Map<string, readonly number[]>(), done: new Set<string>(), openings: 0 };
  const sent: Record<QueueName, number> = { orders: 0, images: 0, billing: 0 };
  const backoff = BACKOFF_MS.map((ms) => pace.duration(ms));
  const breaker = { window: pace.duration(10_000), openFor: pace.duration(5_000), longest: pace.duration(20_000) };
  const lease = `${Math.round(Math.max(SHORTEST_LEASE_MS, LEASE_MS / pace.speed))}ms`;
  const workshop = (...more: readonly string[]) => [setup.db, setup.ledgerFile, lease, ...more];
  let doors: 'open' | 'closed' = 'open';

  const app = (version: string): App =>
    lazaret({ broker: { name: broker.name, connect: async () => leftOpen(broker) }, system, logger: false, version });

  const send = async (
    queue: QueueName,
    messages: readonly { readonly id?: string; readonly body: Uint8Array | null }[],
  ) => {
    const results = await broker.publish(queue, messages);
    const refused = results.find((result) => result !== 'done');
    if (refused !== undefined) throw refused instanceof Error ? refused : new Error(`the broker answers '${refused}'`);
    ledger.sent(
      queue,
      messages.map(({ id }) => id!),
    );
    sent[queue] += messages.length;
  };

  const openOrders = async (version: OrdersVersion): Promise<App> => {
    const orders = app(version);
    orders.consume('orders', { backoff }, (message) => {
      const order = message.json() as Order;
      // The mistake of 1.5.0: there was nobody to tell it of the new coupons.
      if (version === '1.5.0' && order.coupon !== undefined) throw new Poison(`coupon '${order.coupon}' is unknown`);
      ledger.effect(message.id!);
    });
    await orders.start();
    return orders;
  };

  const openBilling = async (): Promise<App> => {
    const billing = app('2.0.3');
    // n.b. without the retry budget, which spreads retries over minutes that a demo does not have.
    billing.consume('billing', { backoff, breaker, storm: { without: ['budget'] } }, (message) => {
      if (shop.payments === 'down')
        throw Object.assign(new Error('payments: 503 Service Unavailable'), { status: 503 });
      ledger.effect(message.id!);
    });
    const turnedAway = ({ id, delayMs }: { readonly id: string | undefined; readonly delayMs: number }) => {
      if (delayMs > 0) bills.waits.set(id!, [...(bills.waits.get(id!) ?? []), delayMs]);
    };
    billing.on('retrying', turnedAway);
    billing.on('released', turnedAway);
    billing.on('breaker', ({ state }) => state === 'open' && bills.openings++);
    billing.on('done', ({ id }) => void bills.done.add(id!));
    await billing.start();
    return billing;
  };

  const serve = async () => {
    await send('images', goods.images(PER_TICK.images));
    await send('images', [goods.deadlyImage()]);
    await send('orders', [...goods.orders(1), goods.brokenOrder()]);
    while (doors === 'open') {
      await send('orders', goods.orders(PER_TICK.orders));
      await send('images', goods.images(PER_TICK.images));
      await send('billing', goods.bills(PER_TICK.billing));
      await pace.pause(TICK_MS);
    }
  };

  let orders = await openOrders('1.4.0');
  const billing = await openBilling();
  const images = supervise(new URL('./images-process.js', import.meta.url), workshop());
  const served = serve();
  // Whoever closes the doors hears of it.
  served.catch(() => {});

  const shop: Shop = {
    payments: 'up',
    images,
    bills,
    sent,
    async deployOrders(version) {
      await orders.stop({ within: '5s' });
      orders = await openOrders(version);
    },
    mendImages: () => images.replace(workshop('fixed')),
    async closeDoors() {
      doors = 'closed';
      await served;
    },
    async close() {
      doors = 'closed';
      await Promise.allSettled([served, orders.stop({ within: '5s' }), billing.stop({ within: '5s' }), images.end()]);
    },
  };
  return shop;
}

/** Of all queues, of the story, in a second. */
export const PER_SECOND: Readonly<Record<QueueName, number>> = Object.fromEntries(
  QUEUES.map((queue) => [queue, (1000 / TICK_MS) * PER_TICK[queue]]),
) as Record<QueueName, number>;
