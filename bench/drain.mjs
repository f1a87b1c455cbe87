/**
 * Consumes `warmUp` messages, then `count` more, and answers what those took, from settlement to settlement. What is left
 * afterwards stays in the queue.
 */
export async function drain(contender, { warmUp, count, ...options }, handle) {
  let ended = 0;
  let from;
  let finish;
  const finished = new Promise((resolve) => {
    finish = resolve;
  });
  const stop = await contender.consume(options, handle, (n) => {
    ended += n;
    if (from === undefined && ended >= warmUp) from = { ended, ...reading() };
    if (ended >= warmUp + count) finish();
  });
  await finished;
  const to = { ended, ...reading() };
  await stop();
  return spent(from, to);
}

/** Milliseconds, and microseconds of CPU of all threads. */
export function reading() {
  const { user, system } = process.cpuUsage();
  return { ms: performance.now(), cpuUs: user + system };
}

function spent(from, to) {
  const messages = to.ended - from.ended;
  const ms = to.ms - from.ms;
  return { ms, messages, rate: (messages / ms) * 1000, cpuUs: (to.cpuUs - from.cpuUs) / messages };
}
