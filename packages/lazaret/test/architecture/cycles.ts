import { importedPath } from './layers.ts';
import type { Breach, Source } from './source.ts';

export const CYCLE_RULES = {
  'no circles': 'files do not import each other in a circle (type-only imports excepted)',
} as const;

/** Each circle once, told from the file that closes it. */
export function cycleBreaches(sources: readonly Source[]): readonly Breach<keyof typeof CYCLE_RULES>[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const breaches: Breach<keyof typeof CYCLE_RULES>[] = [];

  const follow = (source: Source, trail: readonly string[]): void => {
    const here = [...trail, source.path];
    for (const imported of source.imports) {
      const path = imported.typeOnly ? undefined : importedPath(source.path, imported);
      const next = path === undefined ? undefined : byPath.get(path);
      if (next === undefined || done.has(next.path)) continue;
      const start = here.indexOf(next.path);
      if (start < 0) follow(next, here);
      else {
        const what = `closes the circle ${[...here.slice(start), next.path].join(' → ')}`;
        breaches.push({ rule: 'no circles', path: source.path, line: imported.line, what });
      }
    }
    done.add(source.path);
  };

  for (const source of sources) if (!done.has(source.path)) follow(source, []);
  return breaches;
}
