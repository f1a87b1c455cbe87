import { didYouMean } from 'lazaret/core';
import { refuse } from './refusal.ts';
import type { Letter, Services } from './services.ts';

/** What a name for a letter can mean: its own id, the id of its message, or a beginning of that which no other letter has. */
export type Named =
  | { readonly kind: 'one'; readonly id: string }
  | { readonly kind: 'several'; readonly letters: readonly Letter[] }
  | { readonly kind: 'none' };

const LETTER_ID = /^[0-9]{1,15}$/;
const SHOWN = 4;
const COMPARED = 500;

/** n.b. a message may have an id that looks like a letter's; the letter's own goes first, so that one name always means the same. */
export async function letterNamed(services: Services, name: string): Promise<Named> {
  if (LETTER_ID.test(name) && (await services.letters.show(name)) !== undefined) return { kind: 'one', id: name };
  const letters = name === '' ? [] : await services.letters.find(name, SHOWN + 1);
  const [first] = letters;
  if (first === undefined) return { kind: 'none' };
  return letters.length === 1 ? { kind: 'one', id: first.id } : { kind: 'several', letters };
}

/** The letter that `name` names. LZ1303 where there is none, or more than one. */
export async function namedLetter(services: Services, name: string): Promise<Letter> {
  const named = await letterNamed(services, name);
  const letter = named.kind === 'one' ? await services.letters.show(named.id) : undefined;
  if (letter !== undefined) return letter;
  if (named.kind === 'several') throw refuse('LZ1303', `'${name}' fits more than one letter.`, whichOf(named.letters));
  throw refuse('LZ1303', `there is no message '${name}' in the quarantine.`, await nearby(services, name));
}

/** Which letters it could have been, for people. */
export function whichOf(letters: readonly Letter[]): string {
  const named = letters.slice(0, SHOWN).map(({ id, queue, message }) => `${id} (${message.id ?? 'no id'} in ${queue})`);
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
