import { didYouMean } from 'lazaret/core';
import type { JsonSchema } from './operation.ts';
import { refuse } from './refusal.ts';

/** What a face was given for a property: text, several texts, or that it was named at all. */
export type Given = string | readonly string[] | boolean;

/**
 * The input that texts mean by `schema`, with its defaults; a list that was not given is empty. Throws LZ1305 for what is
 * missing, LZ1002 for what is no value of its property and LZ1003 for one out of range; `nameOf` is what the face calls a property.
 */
export function readInput(
  schema: JsonSchema,
  given: ReadonlyMap<string, Given>,
  nameOf: (property: string) => string,
): object {
  const input: [string, unknown][] = [];
  for (const [property, wanted] of Object.entries(schema.properties ?? {})) {
    const value = given.get(property);
    if (value !== undefined) input.push([property, read(wanted, value, nameOf(property))]);
    else if (wanted.default !== undefined) input.push([property, wanted.default]);
    else if (wanted.type === 'array') input.push([property, []]);
    else if (schema.required?.includes(property)) throw refuse('LZ1305', `${nameOf(property)} is missing.`, 'Add it.');
  }
  return Object.fromEntries(input);
}

function read(schema: JsonSchema, given: Given, name: string): unknown {
  switch (schema.type) {
    case 'integer':
      return readInteger(schema, given, name);
    case 'array':
      return Array.isArray(given) ? given : [given];
    case 'string':
      return readText(schema, given, name);
    default:
      return given;
  }
}

function readInteger(
  { minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: JsonSchema,
  given: Given,
  name: string,
): number {
  const number = typeof given === 'string' && /^[0-9]{1,15}$/.test(given) ? Number(given) : undefined;
  if (number === undefined) {
    throw refuse('LZ1002', `${name}: '${String(given)}' is not a whole number.`, `Write one from ${minimum} on.`);
  }
  if (number < minimum || number > maximum) {
    throw refuse('LZ1003', `${name}: ${number} is out of range.`, `It lies between ${minimum} and ${maximum}.`);
  }
  return number;
}

function readText(schema: JsonSchema, given: Given, name: string): string {
  const text = String(given);
  if (text.length < (schema.minLength ?? 0)) throw refuse('LZ1002', `${name} is empty.`, 'Write a name.');
  const { enum: choices } = schema;
  if (choices === undefined || choices.includes(text)) return text;
  const meant = didYouMean(text, choices);
  throw refuse(
    'LZ1002',
    `${name}: '${text}' is not one of its values.`,
    meant === undefined ? `Write one of ${choices.join(', ')}.` : `Did you mean '${meant}'?`,
  );
}
