import { type Field, renamed } from './wire/table.ts';

/**
 * What would make the broker act on a copy is kept under another name: it would send it to other queues again, shorten its
 * wait, refuse it, or (`x-death`, malformed, on 3.10) stop the tier that it waits in.
 */
export const KEPT_PREFIX = 'lazaret-kept-';

/** Properties that act, by the name under which they are kept. */
export const KEPT_PROPERTY = { expiration: 'lazaret-kept-expiration', userId: 'lazaret-kept-user-id' } as const;

const ACTING = /^(?:x-death|x-(?:first|last)-death-[a-z]+|CC|BCC)$/;

/** The broker's own counts of one stay in one queue: no property of the message. */
const COUNT = /^x-(?:delivery|acquired)-count$/;

export function isActing(name: string): boolean {
  return ACTING.test(name);
}

export function isCount(name: string): boolean {
  return COUNT.test(name);
}

export function keep(field: Field): Field {
  return renamed(field, KEPT_PREFIX + field.name);
}

export function restored(field: Field): Field {
  return renamed(field, field.name.slice(KEPT_PREFIX.length));
}
