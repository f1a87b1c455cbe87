import type { Broker, Evidence, Message, Page, System } from 'lazaret';
import { type Cause, Causes } from '../quarantine/causes.ts';
import { type Account, account, isAccountedFor } from './account.ts';
import { BROKEN_ORDER, DEADLY_IMAGE, QUEUES, type QueueName } from './goods.ts';
import { type Book, openLedger, readLedger } from './ledger.ts';
import type { Pace } from './pace.ts';
import { seeded } from './seeded.ts';
import { openShop, PER_SECOND, type Shop } from './shop.ts';
import type { Claim, Stage } from './stage.ts';

export interface StorySetup {
  readonly db: string;
  readonly ledgerFile: string;
  readonly broker: DemoBroker;
  readonly system: System;
  readonly pace: Pace;
  readonly stage: Stage;
}

/** What the story needs of a broker that keeps its own dead letters. */
interface DemoBroker extends Broker {
  readonly letters: {
    list(query: { readonly after?: string; readonly max: number }): Promise<Page<DeadLetter>>;
    release(ids: readonly string[]): Promise<readonly { readonly result: unknown }[]>;
  };
}

interface DeadLetter {
  readonly id: string;
  readonly queue: string;
  readonly message: Message;
  readonly evidence: Evidence;
}

export interface Ending {
  readonly claims: readonly Claim[];
  readonly account: Account;
}

const SEED = 7;
/** Long enough for the breaker to open, and over before its first probe. */
const OUTAGE_MS = 8_000;
/** In real time: a machine may be slow, but not for ever. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 100;
const ORDINALS = ['first', 'second', 'third', 'fourth'] as const;

/** The whole story, scene by scene. Rejects with `Interrupted` when it is to end early; nothing is left running in any case. */
export async function tell(setup: StorySetup): Promise<Ending> {
  const ledger = openLedger(setup.ledgerFile);
  const shop = await openShop({ ...setup, ledger, random: seeded(SEED) });
  const told = { ...setup, shop };
  try {
    await healthyFlow(told);
    const flow = await badDeploy(told);
    await outage(told);
    await crash(told);
    const letters = await quarantine(told);
    const deadlyStarts = startsOfDeadly(told);
    await fix(told, letters);
    return await reckon(told, { flow, letters, deadlyStarts });
  } finally {
    await shop.close();
  }
}

type Told = StorySetup & { readonly shop: Shop };

async function healthyFlow(told: Told): Promise<void> {
  const { stage } = told;
  stage.scene('Three queues, healthy');
  stage.say(
    `orders ${PER_SECOND.orders}/s, images ${PER_SECOND.images}/s, billing ${PER_SECOND.billing}/s. The images service is a process of its own.`,
  );
  await watch(told, 5_000);
  stage.say(`${total(await doneOf(told))} messages are done.`);
}

/** How the healthy orders fared in the bad deploy. */
interface Flow {
  readonly before: number;
  readonly during: number;
}

async function badDeploy(told: Told): Promise<Flow> {
  const { stage, shop } = told;
  stage.scene('A bad deploy');
  const before = (await doneOf(told)).orders / 5;
  await shop.deployOrders('1.5.0');
  stage.say('orders 1.5.0 is out. It does not know the new coupons, and says Poison to every sixth order.');
  const start = (await doneOf(told)).orders;
  await watch(told, 6_000);
  const during = ((await doneOf(told)).orders - start) / 6;
  const dead = (await told.broker.inspect('orders')).dead ?? 0;
  stage.say(`${dead} orders are quarantined, each on its first attempt: no retry was wasted on them.`);
  stage.say(
    `The others flowed on: ${perSecond(during)} of the ${perSecond(before)} before; the missing sixth is the quarantined one.`,
  );
  await shop.deployOrders('1.4.0');
  stage.say('1.5.0 is taken back. What it refused waits in the quarantine for a version that understands it.');
  await breathe(told);
  return { before, during };
}

async function outage(told: Told): Promise<void> {
  const { stage, shop } = told;
  stage.scene('A dependency goes away');
  shop.payments = 'down';
  stage.say(
    'The payments API answers 503. That is not the fault of any bill: a failure costs it no attempt, and soon the breaker stops asking for more.',
  );
  await watch(told, OUTAGE_MS);
  shop.payments = 'up';
  const hit = shop.bills.waits.size;
  stage.say(
    `It is back after ${OUTAGE_MS / 1000} s; ${hit} bills had been turned away, the others never left their queue. A probe finds out, and they come back by themselves.`,
  );
  await watchUntil(told, async () => [...shop.bills.waits.keys()].every((id) => shop.bills.done.has(id)));
  const [id, waits] = [...shop.bills.waits].sort(([, a], [, b]) => b.length - a.length)[0] ?? ['', []];
  const waited = waits.map((ms) => `${((ms * told.pace.speed) / 1000).toFixed(1)} s`).join(', then ');
  stage.say(
    `All of them are done. ${id}, for one, waited ${waited}, and was done on its ${ORDINALS[waits.length] ?? 'last'} try.`,
  );
  await breathe(told);
}

async function crash(told: Told): Promise<void> {
  const { stage, shop } = told;
  stage.scene('A message that kills its process');
  stage.say(
    `All the while ${DEADLY_IMAGE} was at work: the decoder does not survive it, and a supervisor restarts the process.`,
  );
  await watchUntil(told, async () => (await lettersOf(told)).some(({ message }) => message.id === DEADLY_IMAGE));
  await shop.closeDoors();
  const starts = startsOfDeadly(told);
  stage.say(
    `It was started ${starts.length} times, the last ${starts.filter((strikes) => strikes >= 2).length} times alone in its process; then it was quarantined. The process died ${shop.images.deaths} times.`,
  );
  await watchUntil(told, () => isDrained(told));
  stage.say(`Its ${shop.sent.images - 1} neighbours are done, every one of them.`);
  await breathe(told);
}

async function quarantine(told: Told): Promise<readonly DeadLetter[]> {
  const { stage } = told;
  stage.scene('What is in the quarantine');
  const letters = await lettersOf(told);
  const causes = new Causes();
  for (const { message, evidence } of letters) causes.add({ ...evidence, id: message.id! });
  for (const cause of causes.list()) stage.say(sentenceOn(cause));
  await told.pace.pause(4_000);
  return letters;
}

async function fix(told: Told, letters: readonly DeadLetter[]): Promise<void> {
  const { stage, shop, broker } = told;
  stage.scene('The fix');
  await Promise.all([shop.deployOrders('1.5.1'), shop.mendImages()]);
  const curable = letters.filter(({ message }) => message.id !== BROKEN_ORDER);
  await broker.letters.release(curable.map(({ id }) => id));
  stage.say(
    `orders 1.5.1 and a mended decoder are out; ${curable.length} letters are released. The cut-off one stays: no fix brings its bytes back.`,
  );
  await watchUntil(told, () => isDrained(told));
  await breathe(told);
}

/** What was seen on the way, and is claimed at the end. */
interface Seen {
  readonly flow: Flow;
  /** All letters, before the fix. */
  readonly letters: readonly DeadLetter[];
  /** The strikes that each start of the deadly image saw, before the fix. */
  readonly deadlyStarts: readonly number[];
}

/** Compares the ledger with the queues, which know nothing of each other. */
async function reckon(told: Told, seen: Seen): Promise<Ending> {
  const { stage, shop, ledgerFile } = told;
  stage.scene('Everything accounted for');
  const book = readLedger(ledgerFile);
  const letters = await lettersOf(told);
  const where = account(
    book,
    letters.map(({ message }) => message.id!),
    await queuedIds(told),
  );
  const claims = claimsOf(seen, book, where, letters, shop);
  for (const claim of claims) stage.check(claim);
  return { claims, account: where };
}

function claimsOf(
  { flow, letters: buried, deadlyStarts }: Seen,
  book: Book,
  where: Account,
  letters: readonly DeadLetter[],
  shop: Shop,
): readonly Claim[] {
  const poison = buried.filter(({ evidence }) => evidence.reason === 'poison');
  const deadly = buried.find(({ message }) => message.id === DEADLY_IMAGE);
  const bills = [...shop.bills.waits.keys()];
  return [
    {
      claim: 'every message that was sent is in exactly one place',
      holds: isAccountedFor(where),
      seen: `${where.sent} sent = ${where.done} done + ${where.quarantined} quarantined + ${where.queued} queued`,
    },
    {
      claim: 'poison was quarantined on its first attempt',
      holds: poison.length > 0 && poison.every(({ evidence }) => evidence.attempts === 1),
      seen: `${poison.length} letters`,
    },
    {
      claim: 'healthy orders flowed on meanwhile',
      holds: flow.during >= flow.before / 2,
      seen: `${perSecond(flow.during)} of ${perSecond(flow.before)}, with every sixth in the quarantine`,
    },
    {
      claim: 'an outage opened the breaker, and what it turned away came back by itself',
      holds: shop.bills.openings > 0 && bills.length > 0 && bills.every((id) => book.effects.has(id)),
      seen: `${bills.length} bills, none of them quarantined`,
    },
    {
      claim: 'the deadly image was started at most 4 times, the last 2 alone',
      holds: isLimited(deadlyStarts) && deadly?.evidence.reason === 'crash',
      seen: `${deadlyStarts.length} starts`,
    },
    {
      claim: 'its neighbours were not harmed',
      holds: buried.filter(({ queue }) => queue === 'images').length === 1,
      seen: `${shop.sent.images - 1} done, ${where.repeated} effects repeated after a crash`,
    },
    {
      claim: 'what was released is done, and only the cut-off order is left',
      holds: letters.length === 1 && letters[0]?.message.id === BROKEN_ORDER,
      seen: `${buried.length - letters.length} released and done`,
    },
  ];
}

function isLimited(starts: readonly number[]): boolean {
  return starts.length <= 4 && starts.slice(2).every((strikes) => strikes >= 2);
}

function startsOfDeadly({ ledgerFile }: Told): readonly number[] {
  return readLedger(ledgerFile).starts.get(DEADLY_IMAGE) ?? [];
}

function sentenceOn({ count, reason, why, example }: Cause): string {
  return `${String(count).padStart(4)}  ${reason.padEnd(12)} ${why}  (${example})`;
}

function perSecond(rate: number): string {
  return `${rate.toFixed(1)} orders/s`;
}

// --- looking --------------------------------------------------------------------------------------------------------

/** Time to read. */
function breathe({ pace }: Told): Promise<void> {
  return pace.pause(2_000);
}

/** Lets the story go on for `ms` of it, and shows how things are meanwhile. */
async function watch(told: Told, ms: number): Promise<void> {
  const { system, pace } = told;
  const endsAt = system.monotonic() + ms / pace.speed;
  for (let leftMs = endsAt - system.monotonic(); leftMs > 0; leftMs = endsAt - system.monotonic()) {
    await pace.pause(Math.min(leftMs, LOOK_MS) * pace.speed);
    await showStatus(told);
  }
}

async function watchUntil(told: Told, isSo: () => Promise<boolean>): Promise<void> {
  const { system, pace } = told;
  const giveUpAt = system.monotonic() + PATIENCE_MS;
  while (!(await isSo()) && system.monotonic() < giveUpAt) {
    await pace.pause(LOOK_MS * pace.speed);
    await showStatus(told);
  }
}

async function showStatus(told: Told): Promise<void> {
  const done = await doneOf(told);
  const facts = await Promise.all(QUEUES.map((queue) => told.broker.inspect(queue)));
  const delayed = facts.reduce((sum, { delayed = 0 }) => sum + delayed, 0);
  const dead = facts.reduce((sum, { dead = 0 }) => sum + dead, 0);
  const queues = QUEUES.map((queue) => `${queue} ${done[queue]}`).join('  ');
  told.stage.status(`done: ${queues}   waiting for a retry: ${delayed}   quarantined: ${dead}`);
}

/** Sent, and neither in the queue nor in the quarantine. */
async function doneOf({ broker, shop }: Told): Promise<Record<QueueName, number>> {
  const done: Record<QueueName, number> = { orders: 0, images: 0, billing: 0 };
  for (const queue of QUEUES) {
    const sent = shop.sent[queue];
    const { ready = 0, delayed = 0, leased = 0, dead = 0 } = await broker.inspect(queue);
    done[queue] = Math.max(0, sent - ready - delayed - leased - dead);
  }
  return done;
}

function total(counts: Readonly<Record<QueueName, number>>): number {
  return QUEUES.reduce((sum, queue) => sum + counts[queue], 0);
}

async function isDrained({ broker }: Told): Promise<boolean> {
  for (const queue of QUEUES) {
    const { ready = 0, delayed = 0, leased = 0 } = await broker.inspect(queue);
    if (ready + delayed + leased > 0) return false;
  }
  return true;
}

async function lettersOf({ broker }: Told): Promise<readonly DeadLetter[]> {
  const letters: DeadLetter[] = [];
  let after: string | undefined;
  do {
    const page = await broker.letters.list({ max: 200, ...(after === undefined ? {} : { after }) });
    letters.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return letters;
}

async function queuedIds({ broker }: Told): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const queue of QUEUES) {
    let from: string | undefined;
    do {
      const page = await broker.browse?.(queue, from, 200);
      ids.push(...(page?.items ?? []).map(({ id }) => id!));
      from = page?.next;
    } while (from !== undefined);
  }
  return ids;
}
