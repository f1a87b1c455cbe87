import type { PathSegment } from './schema.ts';

const PLAIN_NAME = /^[A-Za-z_$][\w$]{0,127}$/;
const LONGEST_STEPS = 32;
const LONGEST_NAME = 128;

/** The path of a value inside a JSON document, `$` being the document: `$.lines[2].sku`, `$["odd name"]`. Bounded. */
export function jsonPath(segments: readonly PathSegment[] = []): string {
  let path = '$';
  for (const segment of segments.slice(0, LONGEST_STEPS))
    path += step(typeof segment === 'object' ? segment.key : segment);
  return segments.length > LONGEST_STEPS ? `${path}…` : path;
}

function step(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`;
  const name = String(key).slice(0, LONGEST_NAME);
  return PLAIN_NAME.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}
