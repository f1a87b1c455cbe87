/** What a broker promises for one queue. The runtime, the conformance suite, `explain` and the docs all read it; no one asks for a driver's name. */
export interface Capabilities {
  /** Who remembers charged failures: the row, the copy's `lazaret-attempt`, or a journal. */
  readonly failures: 'row' | 'copy' | 'journal';
  /** Who remembers starts: the hand-out itself, or a journal (the subscription's own or a store). */
  readonly starts: 'pull' | 'journal';
  /** What is known of a start whose owner vanished. */
  readonly crashEvidence: 'exact' | 'count' | 'flag' | 'none';
  /** What the broker does with a settle that comes too late; the runtime's own deadline is the guard. */
  readonly staleSettle: 'refused' | 'ignored' | 'accepted' | 'unspecified';
  readonly order: 'none' | 'key';
  /** Whether a retry comes back before its successors of the same key. */
  readonly retryKeepsOrder: boolean;
  /** What giving back costs: a count, nothing, or it has to be held here. */
  readonly release: 'counted' | 'free' | 'hold';
  /** The longest delay of a retry or release; what is longer is staged. */
  readonly maxDelayMs: number;
  /** Delays are whole multiples of it. */
  readonly delayGrainMs: number;
  readonly maxPublishDelayMs: number;
  /** Whether deliveries have a lease that runs out and can be extended. */
  readonly lease: boolean;
  /** Without leases: how long after its arrival the broker takes back what is not settled. Absent: it never does. */
  readonly heldAtMostMs?: number;
  readonly inFlightLimit?: number;
  readonly body: 'bytes' | 'text';
  /** Whether `null` and empty bodies stay apart. */
  readonly nullBody: boolean;
  readonly headerBudgetBytes: number;
  readonly headerOrder: boolean;
  readonly nativeExact: boolean;
  /** `false`: 'done' of an ack means sent in order; it may come back. */
  readonly ackAnswered: boolean;
}
