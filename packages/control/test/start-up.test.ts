import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const MAIN = new URL('../src/main.ts', import.meta.url);
/** What help and version need beside our own files. */
const QUICK = ['commander', 'lazaret/core', 'picocolors'];

/** All that is loaded before the first line of `main.ts` runs. */
function loadedFirst(file: URL, seen = new Set<string>()): ReadonlySet<string> {
  const text = readFileSync(file, 'utf8');
  for (const [, clause = '', specifier = ''] of text.matchAll(/^(?:import|export) ([^;]*?)from '([^']+)';$/gms)) {
    if (clause.startsWith('type ')) continue;
    const name = specifier.startsWith('.') ? new URL(specifier, file).href : specifier;
    if (seen.has(name)) continue;
    seen.add(name);
    if (specifier.startsWith('.')) loadedFirst(new URL(name), seen);
  }
  return seen;
}

describe('start-up', () => {
  it('loads no package that help and version can do without', () => {
    const packages = [...loadedFirst(MAIN)].filter((name) => !name.startsWith('file:') && !name.startsWith('node:'));
    expect(packages.sort()).toEqual(QUICK);
  });
});
