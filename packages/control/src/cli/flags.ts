import type { JsonSchema } from '../operations/operation.ts';

/** One flag, or the argument, of a command, as its input schema has it. */
export interface Flag {
  readonly property: string;
  /** As it is written: '--max-attempts <n>', '<id...>'. */
  readonly syntax: string;
  /** As errors call it: '--max-attempts'. */
  readonly name: string;
  readonly description: string;
  readonly choices: readonly string[] | undefined;
  readonly default: string | number | boolean | undefined;
}

export interface Flags {
  readonly argument?: Flag;
  readonly flags: readonly Flag[];
}

/** The properties of `input` as flags; `subject` as the argument. */
export function flagsOf(input: JsonSchema, subject: string | undefined): Flags {
  const { properties = {}, required = [] } = input;
  const flags = Object.entries(properties)
    .filter(([property]) => property !== subject)
    .map(([property, schema]) => flagOf(property, schema));
  const wanted = subject === undefined ? undefined : properties[subject];
  if (subject === undefined || wanted === undefined) return { flags };
  return { argument: argumentOf(subject, wanted, required.includes(subject)), flags };
}

function flagOf(property: string, schema: JsonSchema): Flag {
  const name = `--${property.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return {
    ...described(property, schema),
    name,
    syntax: schema.type === 'boolean' ? name : `${name} <${placeholderOf(property, schema)}>`,
  };
}

function argumentOf(property: string, schema: JsonSchema, required: boolean): Flag {
  const value = schema.type === 'array' ? `${property.replace(/s$/, '')}...` : property;
  const syntax = required && schema.type !== 'array' ? `<${value}>` : `[${value}]`;
  return { ...described(property, schema), name: value, syntax };
}

function described(property: string, { description = '', enum: choices, default: fallback }: JsonSchema) {
  return { property, description, choices, default: fallback };
}

function placeholderOf(property: string, { type, enum: choices }: JsonSchema): string {
  if (type === 'integer') return 'n';
  return choices === undefined || choices.length > 3
    ? property.replace(/^.*(?=[A-Z])/, '').toLowerCase()
    : choices.join('|');
}
