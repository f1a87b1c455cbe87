import type { OutgoingMessage } from 'lazaret';

export const QUEUES = ['orders', 'images', 'billing'] as const;

export type QueueName = (typeof QUEUES)[number];

export interface Order {
  readonly item: string;
  readonly amount: number;
  readonly coupon?: string;
}

/** The image whose decoder takes the process down. */
export const DEADLY_IMAGE = 'img-deadly';
/** The order whose body was cut off on its way. */
export const BROKEN_ORDER = 'order-broken';

const ITEMS = ['bread', 'cheese', 'wine', 'olives', 'soap'] as const;
/** Every so many orders come with a coupon. */
const COUPON_EVERY = 6;

/** Makes the messages of the story, the same in every run. */
export interface Goods {
  orders(count: number): readonly OutgoingMessage[];
  images(count: number): readonly OutgoingMessage[];
  bills(count: number): readonly OutgoingMessage[];
  deadlyImage(): OutgoingMessage;
  brokenOrder(): OutgoingMessage;
}

/** `random` is uniform in [0, 1). */
export function createGoods(random: () => number): Goods {
  const next = { order: 0, image: 0, bill: 0 };
  const number = (of: keyof typeof next) => String(++next[of]).padStart(4, '0');
  const times = (count: number, make: () => OutgoingMessage) => Array.from({ length: count }, make);
  const order = (): OutgoingMessage => {
    const id = `order-${number('order')}`;
    const item = ITEMS[Math.floor(random() * ITEMS.length)]!;
    const coupon = next.order % COUPON_EVERY === 0 ? { coupon: 'SUMMER' } : {};
    return { id, body: json({ item, amount: 1 + Math.floor(random() * 5), ...coupon }) };
  };
  return {
    orders: (count) => times(count, order),
    images: (count) => times(count, () => ({ id: `img-${number('image')}`, body: json({ width: 640, height: 480 }) })),
    bills: (count) =>
      times(count, () => ({ id: `bill-${number('bill')}`, body: json({ cents: Math.floor(random() * 10_000) }) })),
    deadlyImage: () => ({ id: DEADLY_IMAGE, body: json({ width: 2 ** 31, height: 2 ** 31 }) }),
    brokenOrder: () => ({ id: BROKEN_ORDER, body: new TextEncoder().encode('{"item":"bread","amou') }),
  };
}

function json(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
