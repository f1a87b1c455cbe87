import { LazaretError } from '../../core/errors.ts';
import type { Verb } from '../../drivers/memory/faults.ts';
import type { Delivery, Settlement } from '../../ports/broker.ts';
import type { HandOut } from './ledger.ts';
import type { Witness } from './link.ts';
import { scripted } from './pending-faults.ts';
import type { Situation } from './reached.ts';
import type { Stage } from './stage.ts';
import type { VirtualSystem } from './virtual-system.ts';

const CAN_DO = 'a queue is asked for what it can do';
const CUT_WITHIN_MS = 50;
const WRITES_A_COPY: ReadonlySet<Settlement['verb']> = new Set(['retry', 'deadLetter']);

const MEETING: Readonly<Record<Verb, Situation>> = {
  publish: 'a publish meets a fault',
  pull: 'a pull meets a fault',
  settle: 'a settlement meets a fault',
  extend: 'an extension meets a fault',
  copy: 'a copy meets a fault',
  commit: 'a commit meets a fault',
};

/** Who is at this end of the wire. */
export interface Client {
  readonly name: string;
  readonly system: VirtualSystem;
  note(what: string, note?: string, message?: number): void;
  /** Something goes wrong that is not its own doing. */
  troubled(): void;
  /** `false` while its connection is cut or closed: what it says now waits, or is refused. */
  readonly isConnected: boolean;
  /** Its handlers have been told, or will be, that nothing of theirs is settled any more. */
  readonly isStopping: boolean;
  cut(): void;
}

/** By its own clock: a wait beyond the end of what the delivery has left. */
function asksTooMuch(settlement: Settlement, now: number): boolean {
  if (settlement.verb !== 'retry' && settlement.verb !== 'release') return false;
  const { delayCapAt } = settlement.delivery;
  return delayCapAt !== undefined && settlement.delayMs > Math.max(0, delayCapAt - now);
}

/** What passes the wire of one process: writes it down, and puts the faults that wait in its way. */
export function observedWire(stage: Stage, client: Client): Witness {
  const { scenario, ledger, time, chance, trace, pending, server, referee, reached } = stage;
  const { shape } = scenario.server;

  const serverNotes = (what: string, note?: string, message?: number) =>
    trace.add(time.now, 'server', what, message, note);
  const handOutsOf = (batch: readonly { readonly delivery: Delivery }[]): HandOut[] =>
    batch.map(({ delivery }) => ledger.handOut(delivery.message));

  /** Answers whether a fault was met. */
  const meet = (verb: Verb, handOuts: readonly HandOut[]): boolean => {
    const met = client.isConnected ? pending.call(verb) : undefined;
    if (met === undefined) return false;
    reached.add(MEETING[verb]);
    const entries = Math.max(1, Math.min(met.entries, handOuts.length));
    server.fail(verb, scripted(met), entries);
    client.troubled();
    // n.b. a commit is one entry, whatever it carries.
    for (const handOut of verb === 'commit' ? handOuts : handOuts.slice(0, entries)) {
      handOut.isUncertain = true;
      handOut.life.excuses.push(met.fault);
    }
    serverNotes(`${verb} of ${client.name} is about to meet`, `${met.fault} × ${entries}`);
    if (met.fault === 'hang') reached.add('a call hangs');
    const isLost = met.fault === 'request-lost' || met.fault === 'reply-lost';
    // n.b. what is sent in order gets lost only with its connection.
    if (isLost && verb === 'settle' && shape === 'channel')
      time.in(chance.between(0, CUT_WITHIN_MS), () => client.cut());
    return true;
  };

  return {
    pulling: () => void meet('pull', []),
    publishing: () => void meet('publish', []),

    settling(batch) {
      const handOuts = handOutsOf(batch);
      // n.b. one fault per call: what a first one ends never comes to a second, which would wait for somebody else.
      if (meet('settle', handOuts) || (shape !== 'channel' && shape !== 'log')) return;
      const held = handOuts.filter(({ end, isUncertain }) => end === undefined && !isUncertain);
      const copied = held.filter((handOut) => WRITES_A_COPY.has(batch[handOuts.indexOf(handOut)]!.verb));
      if (copied.length > 0 && copied.length === handOuts.length && meet('copy', copied)) return;
      if (shape === 'log' && copied.length === 0 && held.length > 0) meet('commit', held);
    },

    extending(batch) {
      meet('extend', handOutsOf(batch));
    },

    beginning(starts) {
      const handOuts = handOutsOf(starts);
      for (const [i, handOut] of handOuts.entries()) {
        if (!starts[i]!.alone) continue;
        handOut.begunAlone = true;
        reached.add('a suspect is begun alone');
      }
      meet('commit', handOuts);
    },

    begun(starts, histories) {
      for (const [i, handOut] of handOutsOf(starts).entries()) {
        if (histories[i]?.ended !== true) continue;
        handOut.isLeftover = true;
        reached.add('a leftover is known');
      }
    },

    said(settlement) {
      const handOut = ledger.handOut(settlement.delivery.message);
      client.note(`says ${settlement.verb}`, detailsOf(settlement), handOut.life.plan.index);
      noteReached(settlement);
      // n.b. what a slow wire makes of it is not the process's doing: it is refused, and said again.
      if (asksTooMuch(settlement, client.system.now())) {
        const what = `${handOut.life.id}: ${JSON.stringify(detailsOf(settlement))}`;
        referee.report('error', CAN_DO, what, handOut.life);
      }
      if (settlement.verb === 'deadLetter') handOut.life.isCondemned = true;
      promise(handOut, settlement);
      // n.b. on a channel order goes before the rest of a wait.
      if (settlement.verb === 'release' && client.isStopping && shape === 'channel') {
        ledger.promise(handOut.life, settlement.delivery.attempt, time.now);
      }
      // n.b. whoever does not heed the signal of a stop has worked in vain.
      if (settlement.verb === 'release' && client.isStopping) handOut.life.excuses.push('stopped');
      referee.said(handOut, settlement, client);
    },

    handedOut(deliveries, alone) {
      if (client.system.hasEnded) return;
      for (const delivery of deliveries) {
        if (hasElderOfItsKey(delivery)) reached.add('a successor waits behind its key');
        const { life } = ledger.handedOut(time.now, client.name, delivery, alone);
        if (alone) reached.add('a suspect is fetched');
        client.note(alone ? 'is given a suspect' : 'is given', aboutDelivery(delivery), life.plan.index);
      }
    },

    settled(settlement, result) {
      const handOut = ledger.handOut(settlement.delivery.message);
      const { life } = handOut;
      if (result === 'done') {
        ledger.settled(settlement, time.now);
        serverNotes(`takes ${settlement.verb} of ${client.name}`, undefined, life.plan.index);
      } else if (result === 'lost') {
        reached.add('a settlement comes too late');
        ledger.endHandOut(handOut, time.now, 'lost');
        serverNotes(`refuses ${settlement.verb} of ${client.name}`, undefined, life.plan.index);
      } else {
        reached.add('a settlement is tried again');
        client.troubled();
        life.excuses.push('error');
        serverNotes(`fails to ${settlement.verb} for ${client.name}`, result.message, life.plan.index);
        const isRefusal = result instanceof LazaretError && result.code === 'LZ1003';
        if (isRefusal && settlement.delivery.delayCapAt === undefined) {
          referee.report('error', CAN_DO, `${life.id}: ${result.message}`, life);
        }
      }
    },

    extended({ delivery, leaseMs }, result) {
      const handOut = ledger.handOut(delivery.message);
      const { index } = handOut.life.plan;
      if (result === 'done') handOut.leaseEndsAt = Math.max(handOut.leaseEndsAt, time.now + leaseMs);
      if (result === 'done') reached.add('a heartbeat lengthens a lease');
      if (result === 'lost') reached.add('a heartbeat finds the lease lost');
      serverNotes(`extends for ${client.name}`, result instanceof Error ? result.message : result, index);
    },

    lost(deliveries) {
      for (const { message } of deliveries) {
        const handOut = ledger.handOut(message);
        reached.add('a delivery is lost');
        if (handOut.runs.some(({ end }) => end === undefined)) reached.add('a delivery is lost while its handler runs');
        ledger.endHandOut(handOut, time.now, 'lost');
        serverNotes(`takes it back from ${client.name}`, undefined, handOut.life.plan.index);
      }
    },

    toldLost(deliveries) {
      for (const { message } of deliveries) ledger.handOut(message).lossToldAt ??= time.now;
    },

    refusesAlone() {
      const refuses = pending.happens('alone fails');
      if (refuses) {
        reached.add('a request for a suspect fails');
        serverNotes(`refuses to give ${client.name} a suspect`);
      }
      return refuses;
    },
  };

  function hasElderOfItsKey({ message }: Delivery): boolean {
    const { queue, plan } = ledger.life(message.id);
    if (queue.ordering === 'none') return false;
    return [...ledger.inHand(client.name)].some(({ life }) => life.queue === queue && life.plan.key === plan.key);
  }

  function noteReached(settlement: Settlement): void {
    const { verb } = settlement;
    if (verb === 'hold') reached.add(settlement.charged ? 'a delivery is held, charged' : 'a delivery is held');
    if (verb === 'release') reached.add('a delivery is released');
    if ((verb === 'release' || verb === 'retry') && settlement.notBefore !== undefined)
      reached.add('a delay is staged');
  }

  /** When the next attempt may start at the earliest, wherever that will be. */
  function promise({ life, runs }: HandOut, settlement: Settlement): void {
    const last = runs.at(-1);
    const isHeld = settlement.verb === 'hold' && settlement.charged;
    const isLast = settlement.verb === 'deadLetter' && settlement.evidence.reason === 'handler-timeout';
    const isCharge = settlement.verb === 'retry' || isHeld || isLast;
    if (isCharge && last?.attempt === settlement.delivery.attempt && last.abandonedAt !== undefined) {
      last.chargedAt ??= last.abandonedAt;
      reached.add('a handler passes its deadline');
    }
    if (settlement.verb !== 'retry' && !isHeld) return;
    const staged = settlement.verb === 'retry' ? settlement.notBefore : undefined;
    const waitMs = staged === undefined ? settlement.delayMs : staged - client.system.now();
    // What is held waits from its decision on, and is said when a heartbeat under way is answered.
    const from = isHeld ? (last?.abandonedAt ?? last?.end?.at ?? time.now) : time.now;
    ledger.promise(life, settlement.delivery.attempt + 1, from + waitMs);
  }
}

function detailsOf(settlement: Settlement): string | undefined {
  switch (settlement.verb) {
    case 'ack':
      return undefined;
    case 'deadLetter':
      return settlement.evidence.reason;
    case 'hold':
      return `${Math.round(settlement.delayMs)} ms${settlement.charged ? ', charged' : ''}`;
    default:
      return `${Math.round(settlement.delayMs)} ms${settlement.notBefore === undefined ? '' : ', staged'}`;
  }
}

function aboutDelivery({ attempt, strikes, deliveries, blocked }: Delivery): string {
  return `attempt ${attempt}, strikes ${strikes ?? '?'}, deliveries ${deliveries ?? '?'}${blocked ? ', blocked' : ''}`;
}
