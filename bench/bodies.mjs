const BYTES = 100;
const DIGITS = 10;

/** 100 bytes that begin with their number. */
export function bodyOf(number) {
  return Buffer.from(String(number).padStart(DIGITS, '0').padEnd(BYTES, 'x'), 'latin1');
}

/** The number of a body, however its queue gives it back: as bytes or as text. */
export function numberOf(body) {
  if (typeof body === 'string') return Number(body.slice(0, DIGITS));
  let number = 0;
  for (let i = 0; i < DIGITS; i++) number = number * 10 + body[i] - 48;
  return number;
}

/** Publishes `count` messages, a thousand at a time. */
export async function fill(contender, count, options) {
  const bulk = 1000;
  for (let first = 0; first < count; first += bulk) {
    const bodies = Array.from({ length: Math.min(bulk, count - first) }, (_, i) => bodyOf(first + i));
    await contender.publish(bodies, options);
  }
}
