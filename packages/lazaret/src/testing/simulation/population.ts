import type { Chance } from '../world/chance.ts';
import type { SimulationSetup } from './contract.ts';

/** What a message is, whatever happens to it. */
export type Nature = 'healthy' | 'other' | 'poison';

type Fate = 'open' | 'done' | 'quarantined';

/** All messages of a simulation, by the number that is their id: what each is, when it was sent, and how it ended. */
export class Population {
  readonly #chance: Chance;
  readonly #poisonShare: number;
  readonly #otherShare: number;
  readonly #natures: Nature[] = [];
  readonly #sentAt: number[] = [];
  readonly #fates: Fate[] = [];
  #oldestOpen = 0;
  #ended = 0;
  done = 0;
  /** Of those that need the dependency that is in trouble. */
  mainDone = 0;
  quarantined = 0;
  poisonQuarantined = 0;
  poisonSent = 0;

  constructor({ poisonShare, otherShare }: SimulationSetup, chance: Chance) {
    this.#chance = chance;
    this.#poisonShare = poisonShare;
    this.#otherShare = otherShare;
  }

  /** The number of a fresh message. */
  send(now: number): number {
    const nature = this.#draw();
    if (nature === 'poison') this.poisonSent++;
    this.#natures.push(nature);
    this.#fates.push('open');
    return this.#sentAt.push(now) - 1;
  }

  #draw(): Nature {
    const drawn = this.#chance.next();
    if (drawn < this.#poisonShare) return 'poison';
    return this.#chance.next() < this.#otherShare ? 'other' : 'healthy';
  }

  nature(number: number): Nature {
    return this.#natures[number]!;
  }

  finish(number: number): void {
    if (!this.#end(number, 'done')) return;
    this.done++;
    if (this.nature(number) !== 'other') this.mainDone++;
  }

  quarantine(number: number): void {
    if (!this.#end(number, 'quarantined')) return;
    if (this.nature(number) === 'poison') this.poisonQuarantined++;
    else this.quarantined++;
  }

  /** A message ends once; what a copy of it does is not counted. */
  #end(number: number, fate: Fate): boolean {
    if (this.#fates[number] !== 'open') return false;
    this.#fates[number] = fate;
    this.#ended++;
    return true;
  }

  get sent(): number {
    return this.#fates.length;
  }

  /** Neither done nor quarantined. */
  get open(): number {
    return this.#fates.length - this.#ended;
  }

  /** Of the oldest that is open; 0 where none is. */
  ageMs(now: number): number {
    while (this.#oldestOpen < this.#fates.length && this.#fates[this.#oldestOpen] !== 'open') this.#oldestOpen++;
    const sentAt = this.#sentAt[this.#oldestOpen];
    return sentAt === undefined ? 0 : now - sentAt;
  }
}
