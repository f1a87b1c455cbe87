import { didYouMean } from 'lazaret/core';
import { refuse } from './refusal.ts';
import type { Letter, Services } from './services.ts';

/** What a name for a letter can mean. */
export type Named =
  | { readonly kind: 'one'; readonly id: string }
  | { readonly kind: 'several'; readonly letters: readonly Letter[] }
  | { readonly kind: 'none' };

const LETTER_ID = /^[0-9]{1,15}$/;
const SHOWN = 4;
const COMPARED = 500;

/**
 * '#12' is the number of a letter, and nothing else. Otherwise a message of exactly this id, or a letter of this number; where both are
 * there, neither is guessed. Beginnings count only where nothing is changed: 'orders:3' also begins 'orders:33'.
 */
export async function letterNamed(
  services: Services,
  name: string,
  { beginnings }: { readonly beginnings: boolean },
): Promise<Named> {
  const number = name.startsWith('#') ? name.slice(1) : name;
  const numbered = LETTER_ID.test(number) ? await services.letters.show(number) : undefined;
  if (name.startsWith('#')) return numbered === undefined ? { kind: 'none' } : { kind: 'one', id: numbered.id };
  const found = name === '' ? [] : await services.letters.find(name, SHOWN + 1);
  const exact = found.filter(({ id, message }) => message.id === name && id !== numbered?.id);
  const meant = numbered === undefined ? exact : [numbered, ...exact];
  const letters = meant.length > 0 || !beginnings ? meant : found;
  const [first] = letters;
  if (first === undefined) return { kind: 'none' };
  return letters.length === 1 ? { kind: 'one', id: first.id } : { kind: 'several', letters };
}

/** The letter that `name` names. LZ1303 where there is none, or more than one. */
export async function namedLetter(services: Services, name: string): Promise<Letter> {
  const named = await letterNamed(services, name, { beginnings: true });
  const letter = named.kind === 'one' ? await services.letters.show(named.id) : undefined;
  if (letter !== undefined) return letter;
  if (named.kind === 'several') throw refuse('LZ1303', `'${name}' fits more than one letter.`, whichOf(named.letters));
  throw refuse('LZ1303', `there is no message '${name}' in the quarantine.`, await nearby(services, name));
}

/** Which letters it could have been, for people. */
export function whichOf(letters: readonly Letter[]): string {
  const named = letters
    .slice(0, SHOWN)
    .map(({ id, queue, message }) => `#${id} (${message.id ?? 'no id'} in ${queue})`);
  return `Name one of them by its number: ${named.join(', ')}${letters.length > SHOWN ? ' …' : ''}.`;
}

async function nearby(services: Services, name: string): Promise<string> {
  const { items } = await services.letters.list({ max: COMPARED });
  const meant = didYouMean(
    name,
    items.flatMap(({ message }) => message.id ?? []),
  );
  return meant === undefined ? "See them with 'lazaret messages ls'." : `Did you mean '${meant}'?`;
}
