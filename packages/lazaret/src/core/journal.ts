import { STRIKES } from './defaults.ts';
import { fnv1a64 } from './fnv.ts';
import { HEADER, readAttempt } from './headers.ts';
import { type HeaderList, headerText } from './message.ts';

/**
 * What a journal keeps of one message, under its queue and id. It is written by `beginStart` and `endStart` alone: stores read it, hand it
 * to these, and write what they answer, in one transaction.
 */
export interface JournalRecord {
  /** 1, and one more each time that the message comes again as a new one: put back, replayed, or sent twice. */
  readonly epoch: number;
  /** What tells this life of the message from an earlier one: a digest of what putting back leaves on it; empty for the first. */
  readonly mark: string;
  /** The attempt that its newest copy carries by itself. */
  readonly copy: number;
  /** Failures that were charged since, which no copy carries. */
  readonly charged: number;
  /** Starts without outcome whose owner is gone. */
  readonly strikes: number;
  /** How often it was begun; an end that names another number comes too late. */
  readonly token: number;
  /** Who began it and has not said how it ended. */
  readonly openBy: string | undefined;
  /** 'over': acked or dead-lettered, what still comes of this life is a leftover. 'retried': so is what carries no higher attempt. */
  readonly state: 'live' | 'retried' | 'over';
  /** While it was open, a second message of this id came for the first time: one of them may not be acked for the other. */
  readonly doubled: boolean;
}

/** What a delivery says about itself, before any journal is asked. */
export interface Sight {
  /** `lazaret-attempt`, or 1. */
  readonly carried: number;
  readonly mark: string;
  /** It may be the first that anybody sees of it: no copy of ours, and the broker has not counted an earlier hand-out. */
  readonly first: boolean;
}

export interface JournalStart extends Sight {
  readonly owner: string;
  /** Nothing else of this process is started or unsettled. */
  readonly alone: boolean;
  /** The owner has it open and has not lost it. */
  readonly open: boolean;
}

export interface JournalEnd extends Sight {
  readonly owner: string;
  /** As `begin` gave it; absent where it was never begun. */
  readonly token: number | undefined;
  readonly as: Ending;
}

/**
 * How a start ended. 'acked' and 'dead-lettered': the message is done with. 'retried': a copy that carries the next attempt stands in its
 * place. 'charged': it failed, and comes again by itself (hidden, or held here). 'released': neither an attempt nor a strike.
 */
export type Ending = 'acked' | 'dead-lettered' | 'retried' | 'charged' | 'released';

export interface History {
  /** Charged failures + 1. */
  readonly attempt: number;
  /** Starts without outcome whose owner is gone. */
  readonly strikes: number;
  /** `false`: not begun, because a living owner holds an open start, because two strikes are begun only alone, or because four convict. */
  readonly begun: boolean;
  /** Already acked, retried or dead-lettered: a leftover, to be acked unrun. */
  readonly ended: boolean;
  /** To be named when it ends. Absent where the subscription's own journal learns ends from `settle`. */
  readonly token?: number;
}

/** No counter of ours grows so far; what cannot be read counts as the last attempt, whatever `maxAttempts` is. */
const MOST_ATTEMPTS = 1_000_000;

export function sightOf(headers: HeaderList, deliveries: number | undefined): Sight {
  const carried = readAttempt(headers, MOST_ATTEMPTS);
  // n.b. a letter that is moved back as it lies has its evidence; one that is replayed has the replay's token instead.
  const left = headerText(headers, HEADER.replay) ?? headerText(headers, HEADER.evidence);
  return {
    carried,
    mark: left === undefined ? '' : fnv1a64(left),
    first: carried === 1 && (deliveries === undefined || deliveries <= 1),
  };
}

/** The record after a start was asked for, and what the asker is told. The same record: nothing is to be written. */
export function beginStart(
  record: JournalRecord | undefined,
  start: JournalStart,
  isAlive: (owner: string) => boolean,
): { readonly record: JournalRecord; readonly history: History } {
  if (record === undefined) return begun(newLife(1, start, 0), start);
  if (isOpenElsewhere(record, start.owner, isAlive) || (start.open && record.openBy !== undefined)) {
    const doubled = record.doubled || (start.first && start.mark === record.mark);
    return refused(doubled === record.doubled ? record : { ...record, doubled }, false);
  }
  const closed = closeFor(record, start.owner);
  switch (standing(closed, start)) {
    case 'leftover':
      return refused(closed, true);
    case 'new life':
      return begun(nextLife(record, start), start);
    case 'newer copy':
      return begun({ ...closed, copy: start.carried, charged: 0, strikes: 0, state: 'live' }, start);
    case 'known':
      return mayStart(closed, start.alone) ? begun(closed, start) : refused(closed, false);
  }
}

/** The record after a start has ended. The same record: it came too late, or changes nothing. */
export function endStart(
  record: JournalRecord | undefined,
  end: JournalEnd,
  isAlive: (owner: string) => boolean,
): JournalRecord | undefined {
  const isOver = end.as === 'acked' || end.as === 'dead-lettered';
  if (record === undefined) return isOver ? { ...newLife(1, end, 0), state: 'over' } : undefined;
  if (end.token === undefined ? isOpenElsewhere(record, end.owner, isAlive) : end.token !== record.token) return record;
  if (isOver) {
    const life = end.token === undefined && end.mark !== record.mark ? nextLife(record, end) : record;
    return { ...life, openBy: undefined, charged: 0, strikes: 0, state: 'over' };
  }
  // n.b. said twice, it counts once.
  if (record.openBy === undefined) return record;
  const closed = { ...record, openBy: undefined };
  switch (end.as) {
    case 'released':
      return closed;
    case 'charged':
      return { ...closed, charged: record.charged + 1, strikes: 0 };
    default:
      return { ...closed, charged: 0, strikes: 0, state: 'retried' };
  }
}

function mayStart({ strikes }: JournalRecord, alone: boolean): boolean {
  return strikes < (alone ? STRIKES.convict : STRIKES.alone);
}

type Standing = 'leftover' | 'new life' | 'newer copy' | 'known';

/** n.b. only what cannot be a message of its own is a leftover: it is acked unrun. */
function standing(record: JournalRecord, { mark, first, carried }: Sight): Standing {
  const mayBeNew = first || record.doubled;
  if (mark !== record.mark) return mark !== '' || mayBeNew ? 'new life' : 'leftover';
  if (record.state === 'over' || carried < record.copy) return mayBeNew ? 'new life' : 'leftover';
  if (carried > record.copy) return 'newer copy';
  if (record.state === 'live') return 'known';
  return mayBeNew ? 'new life' : 'leftover';
}

function isOpenElsewhere({ openBy }: JournalRecord, owner: string, isAlive: (owner: string) => boolean): boolean {
  return openBy !== undefined && openBy !== owner && isAlive(openBy);
}

/** Whoever left it open is gone: a strike. What oneself left open was lost while its owner lived, and ends as a release. */
function closeFor(record: JournalRecord, owner: string): JournalRecord {
  if (record.openBy === undefined) return record;
  return { ...record, openBy: undefined, strikes: record.strikes + (record.openBy === owner ? 0 : 1) };
}

function newLife(epoch: number, { carried, mark }: Sight, token: number): JournalRecord {
  return {
    epoch,
    mark,
    copy: carried,
    charged: 0,
    strikes: 0,
    token,
    openBy: undefined,
    state: 'live',
    doubled: false,
  };
}

/** n.b. the token counts on, so that ends of the life before come too late. */
function nextLife({ epoch, token }: JournalRecord, sight: Sight): JournalRecord {
  return newLife(epoch + 1, sight, token);
}

function begun(before: JournalRecord, { owner }: JournalStart): { record: JournalRecord; history: History } {
  const token = before.token + 1;
  const record = { ...before, token, openBy: owner };
  return { record, history: { ...told(record), begun: true, ended: false, token } };
}

function refused(record: JournalRecord, ended: boolean): { record: JournalRecord; history: History } {
  return { record, history: { ...told(record), begun: false, ended } };
}

function told({ copy, charged, strikes }: JournalRecord): { attempt: number; strikes: number } {
  return { attempt: copy + charged, strikes };
}
