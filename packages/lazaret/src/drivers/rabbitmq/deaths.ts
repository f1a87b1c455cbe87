import { type Field, type Item, readArray, readTable } from './wire/table.ts';

/** One way in which the broker itself moved a message on; for people and for grouping, never a counter of ours. */
export interface Death {
  readonly queue: string;
  /** 'rejected', 'expired', 'maxlen' or 'delivery_limit'; whatever stands there. */
  readonly reason: string;
  readonly count: number;
  /** Epoch milliseconds of the first time, in whole seconds. */
  readonly firstAt: number | undefined;
  readonly exchange: string;
  readonly routingKeys: readonly string[];
}

export const DEATHS = 'x-death';

/** The newest first. What is malformed is left out: anybody can write such a header. */
export function deathsOf(fields: readonly Field[]): readonly Death[] {
  const field = fields.find(({ name }) => name === DEATHS);
  if (field?.tag !== 'A') return [];
  return readArray(field.value.subarray(4)).items.flatMap(deathOf);
}

function deathOf({ tag, value }: Item): readonly Death[] {
  if (tag !== 'F') return [];
  const { fields } = readTable(value.subarray(4));
  const queue = textIn(fields, 'queue');
  const reason = textIn(fields, 'reason');
  if (queue === undefined || reason === undefined) return [];
  return [
    {
      queue,
      reason,
      count: Math.max(1, wholeIn(fields, 'count') ?? 1),
      firstAt: timeIn(fields, 'time'),
      exchange: textIn(fields, 'exchange') ?? '',
      routingKeys: textsIn(fields, 'routing-keys'),
    },
  ];
}

function named(fields: readonly Field[], name: string): Field | undefined {
  return fields.find((field) => field.name === name);
}

function textIn(fields: readonly Field[], name: string): string | undefined {
  const field = named(fields, name);
  return field?.tag === 'S' ? field.value.toString('utf8', 4) : undefined;
}

function textsIn(fields: readonly Field[], name: string): readonly string[] {
  const field = named(fields, name);
  if (field?.tag !== 'A') return [];
  const { items } = readArray(field.value.subarray(4));
  return items.filter(({ tag }) => tag === 'S').map(({ value }) => value.toString('utf8', 4));
}

function wholeIn(fields: readonly Field[], name: string): number | undefined {
  const field = named(fields, name);
  if (field?.tag === 'l') return Number(field.value.readBigInt64BE(0));
  return field?.tag === 'I' ? field.value.readInt32BE(0) : undefined;
}

function timeIn(fields: readonly Field[], name: string): number | undefined {
  const field = named(fields, name);
  return field?.tag === 'T' ? Number(field.value.readBigInt64BE(0)) * 1000 : undefined;
}
