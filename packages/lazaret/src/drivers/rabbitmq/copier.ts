import { LazaretError } from '../../core/errors.ts';
import { pause } from '../../core/within.ts';
import type { System } from '../../ports/system.ts';
import type { Outlet, Parcel, Sent } from './outlet.ts';
import { missingQueue } from './refusals.ts';

const GIVE_UP_AFTER_MS = 15_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** A copy that has to be confirmed before its original may go. */
export interface Copy {
  readonly parcel: Parcel;
  /** A copy of what is no longer ours would be one too many. */
  readonly isWanted: () => boolean;
}

/** 'done': confirmed. 'unwanted': given up because its original is not ours any more; it may lie there all the same. */
export type Copied = 'done' | 'unwanted' | Error;

/** Sends copies until they are confirmed. One whose confirm was lost is sent again with its id: there may then be two. Same order. */
export async function sendCopies(system: System, outlet: Outlet, copies: readonly Copy[]): Promise<readonly Copied[]> {
  const results = new Array<Copied>(copies.length);
  const giveUpAt = system.monotonic() + GIVE_UP_AFTER_MS;
  let open = copies.map((_, index) => index);
  for (let pauseMs = FIRST_PAUSE_MS; open.length > 0; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const sent = await outlet.send(open.map((index) => copies[index]!.parcel));
    const isLate = system.monotonic() >= giveUpAt;
    const again: number[] = [];
    for (const [at, index] of open.entries()) {
      const copied = copiedOf(sent[at]!, copies[index]!, isLate);
      if (copied === undefined) again.push(index);
      else results[index] = copied;
    }
    open = again;
    if (open.length === 0) break;
    if (outlet.isReady) await pause(system, pauseMs);
    else await outlet.ready(Math.max(0, giveUpAt - system.monotonic()));
  }
  return results;
}

/** `undefined`: send it again. */
function copiedOf(sent: Sent, { parcel, isWanted }: Copy, isLate: boolean): Copied | undefined {
  if (sent === 'done' || sent instanceof Error) return sent;
  if (!isWanted()) return 'unwanted';
  if (sent === 'unroutable') return missingQueue(parcel.routingKey.toString('utf8', 1));
  if (!isLate) return undefined;
  return new LazaretError('LZ1130', `A copy was not confirmed within ${GIVE_UP_AFTER_MS / 1000} s: ${sent}.`, {
    hint: 'Look whether the server has an alarm, or the queue is full.',
  });
}
