import type { NormalError } from './normalise.ts';

/** Why a message lies in the quarantine. */
export type Reason =
  | 'poison'
  | 'exhausted'
  | 'handler-timeout'
  | 'crash'
  | 'oversize'
  | 'undecodable'
  | 'schema'
  | 'key-payload-mismatch'
  | 'blocked-key'
  | 'destination-missing'
  | 'expired'
  | 'maxlen'
  | 'manual';

/** What travels with a dead letter. Times are epoch milliseconds. Everything textual is bounded and attacker-controlled. */
export interface Evidence {
  readonly reason: Reason;
  readonly queue: string;
  /** Charged attempts, the last one included. */
  readonly attempts: number;
  readonly strikes: number;
  readonly firstSeenAt: number;
  readonly deadAt: number;
  readonly fingerprint: string;
  /** A sentence for people: the first line of the error, or what was said with `ctx.quarantine`. */
  readonly why: string;
  readonly error?: NormalError;
  readonly position?: string;
  /** The broker's own delivery count. */
  readonly deliveries?: number;
  /** Version of the service, as configured. */
  readonly version?: string;
}
