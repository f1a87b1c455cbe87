import { peek, peekItems } from './peek.ts';

/** How many causes are looked at, whatever the length of the chain. */
export const MAX_CAUSES = 8;

/** Where libraries keep the error they wrap: the language, mssql and Apollo, Sequelize, TypeORM. */
const CAUSES = ['cause', 'originalError', 'original', 'driverError'] as const;

/**
 * The thrown value and what lies below it, nearest first, at most `MAX_CAUSES` below: causes, and the first errors of an
 * AggregateError or of a thrown array. Cycles and repeats are left out. Never throws.
 */
export function causeChain(thrown: unknown): readonly unknown[] {
  const chain: unknown[] = [thrown];
  for (let at = 0; at < chain.length; at++) {
    const link = chain[at];
    if (typeof link !== 'object' || link === null) continue;
    add(chain, causeOf(link));
    for (const error of peekItems(peek(link, 'errors'), MAX_CAUSES)) add(chain, error);
    for (const item of peekItems(link, MAX_CAUSES)) add(chain, item);
    if (chain.length > MAX_CAUSES) break;
  }
  return chain;
}

function causeOf(link: object): unknown {
  for (const key of CAUSES) {
    const cause = peek(link, key);
    // VError's `cause` is a method, present on errors that have none.
    if (cause !== undefined && cause !== null && typeof cause !== 'function') return cause;
  }
  return undefined;
}

function add(chain: unknown[], value: unknown): void {
  if (value === undefined || value === null || chain.length > MAX_CAUSES || chain.includes(value)) return;
  chain.push(value);
}
