import type { SubscribeOptions } from '../../ports/broker.ts';
import { deadLetterQueue } from './shape.ts';

/** Which queues there are, and where the dead letters of each go. */
export class Registry {
  readonly #declare: 'automatic' | 'required';
  readonly #names = new Set<string>();
  readonly #letterQueues = new Map<string, Set<string>>();

  constructor(declare: 'automatic' | 'required') {
    this.#declare = declare;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  declare(name: string): void {
    this.#names.add(name);
  }

  /** Whether the queue can be used; an automatic one springs up. */
  find(queue: string): boolean {
    if (this.#declare === 'automatic') this.#names.add(queue);
    return this.#names.has(queue);
  }

  readsWith(queue: string, options: SubscribeOptions): void {
    const name = deadLetterQueue(queue, options);
    const names = this.#letterQueues.get(queue);
    if (names === undefined) this.#letterQueues.set(queue, new Set([name]));
    else names.add(name);
  }

  letterQueues(queue: string): Iterable<string> {
    return this.#letterQueues.get(queue) ?? [deadLetterQueue(queue, {})];
  }
}
