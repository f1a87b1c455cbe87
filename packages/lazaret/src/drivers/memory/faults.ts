/**
 * What goes to the server. 'publish' is a caller's message, 'copy' the one that a retry, a long release or a dead letter writes,
 * 'settle' one settlement, 'extend' one extension, 'pull' one pull, 'commit' one commit of starts and ends (log).
 */
export type Verb = 'publish' | 'copy' | 'pull' | 'settle' | 'extend' | 'commit';

/**
 * How one of them goes wrong. An Error: nothing happened, and that is the answer. 'refused', 'unroutable': nothing happened
 * (publish and copy). 'request-lost': nothing happened, and no answer came. 'reply-lost': it happened, and no answer came.
 * 'hang': neither, until the connection was cut and is back; then it is sent again.
 */
export type Fault = Error | 'refused' | 'unroutable' | 'request-lost' | 'reply-lost' | 'hang';

/** Faults to come, per verb, in the order in which they were written. */
export class FaultScript {
  readonly #faults = new Map<Verb, Fault[]>();

  add(verb: Verb, fault: Fault, times: number): void {
    const faults = this.#faults.get(verb) ?? [];
    for (let n = 0; n < times; n++) faults.push(fault);
    this.#faults.set(verb, faults);
  }

  next(verb: Verb): Fault | undefined {
    return this.#faults.size === 0 ? undefined : this.#faults.get(verb)?.shift();
  }
}
