import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import type { Breach, Import, Source } from './source.ts';

/** Who may import whom, in sentences. A breach names one of them. */
export const LAYER_RULES = {
  core: 'core imports nothing from outside core, not even a type',
  ports: 'ports import only core',
  runtime: 'the runtime imports only core and ports',
  driver:
    'a driver imports only core, ports and what it shares with the store of its kind: no other driver, no runtime',
  store: 'a store imports only core, ports and what it shares with the driver of its kind',
  'shared by drivers and stores': 'what drivers and stores share imports only core and ports',
  testing: 'testing imports only core, ports, the runtime, the memory driver and the memory store',
  'no dependencies':
    'the library has no dependencies: a client is an optional peer, loaded on demand by a driver or a store',
  'library first': 'the library never imports control',
  operations: 'operations import no driver, no store and no face: main.ts hands them what they need',
  faces: 'api and cli import only operations, and types of the library',
  parts:
    'the parts of control (its other folders) import the library and each other: no driver, store, operation or face; simulate also testing',
  'control stores': 'a store of control imports the library and the parts that it stores for',
  composition: 'the files directly in src compose what their package ships, and ship nothing of testing',
  'front door': 'control reaches the library through its package entries',
  placed: 'every source belongs to a layer, and imports only sources and packages',
} as const;

export type LayerRule = keyof typeof LAYER_RULES;

/**
 * One row of the table. `files` matches the paths of the layer; what it matches of a path is the layer's unit, inside
 * which everything may be imported: two drivers are two units. Rows are tried in order.
 */
interface Layer {
  readonly name: string;
  readonly files: RegExp;
  readonly may: readonly string[];
  readonly rule: LayerRule;
  /** Besides sources: nothing, what the platform brings, also optional peers on demand, or any package. */
  readonly packages: 'none' | 'platform' | 'peers' | 'any';
}

const LIBRARY = /^packages\/lazaret\/src\//;
const LIBRARY_ENTRIES = ['library', 'library types'];

const LAYERS: readonly Layer[] = [
  { name: 'core', files: /^packages\/lazaret\/src\/core\//, may: [], rule: 'core', packages: 'none' },
  { name: 'ports', files: /^packages\/lazaret\/src\/ports\//, may: ['core'], rule: 'ports', packages: 'none' },
  {
    name: 'runtime',
    files: /^packages\/lazaret\/src\/runtime\//,
    may: ['core', 'ports'],
    rule: 'runtime',
    packages: 'platform',
  },
  {
    name: 'memory driver',
    files: /^packages\/lazaret\/src\/drivers\/memory\//,
    may: ['core', 'ports'],
    rule: 'driver',
    packages: 'platform',
  },
  {
    name: 'driver',
    files: /^packages\/lazaret\/src\/drivers\/[^/]+\//,
    may: ['core', 'ports', 'shared by drivers and stores'],
    rule: 'driver',
    packages: 'peers',
  },
  {
    name: 'memory store',
    files: /^packages\/lazaret\/src\/stores\/memory\//,
    may: ['core', 'ports'],
    rule: 'store',
    packages: 'platform',
  },
  {
    name: 'store',
    files: /^packages\/lazaret\/src\/stores\/[^/]+\//,
    may: ['core', 'ports', 'shared by drivers and stores'],
    rule: 'store',
    packages: 'peers',
  },
  {
    name: 'shared by drivers and stores',
    files: /^packages\/lazaret\/src\/sqlite\//,
    may: ['core', 'ports'],
    rule: 'shared by drivers and stores',
    packages: 'peers',
  },
  {
    name: 'testing',
    files: /^packages\/lazaret\/src\/testing\//,
    may: ['core', 'ports', 'runtime', 'memory driver', 'memory store'],
    rule: 'testing',
    packages: 'platform',
  },
  {
    name: 'library root',
    files: /^packages\/lazaret\/src\/(?=[^/]+$)/,
    may: ['core', 'ports', 'runtime', 'memory driver', 'driver', 'memory store', 'store'],
    rule: 'composition',
    packages: 'platform',
  },
  {
    name: 'operations',
    files: /^packages\/control\/src\/operations\//,
    may: ['parts', ...LIBRARY_ENTRIES],
    rule: 'operations',
    packages: 'any',
  },
  {
    name: 'face',
    files: /^packages\/control\/src\/(?:api|cli)\//,
    may: ['operations', 'library types'],
    rule: 'faces',
    packages: 'any',
  },
  {
    name: 'control stores',
    files: /^packages\/control\/src\/stores\//,
    may: ['parts', ...LIBRARY_ENTRIES],
    rule: 'control stores',
    packages: 'any',
  },
  {
    name: 'parts',
    files: /^packages\/control\/src\/simulate\//,
    may: ['parts', 'testing entry', ...LIBRARY_ENTRIES],
    rule: 'parts',
    packages: 'any',
  },
  {
    name: 'parts',
    files: /^packages\/control\/src\/[^/]+\//,
    may: ['parts', ...LIBRARY_ENTRIES],
    rule: 'parts',
    packages: 'any',
  },
  {
    name: 'control root',
    files: /^packages\/control\/src\/(?=[^/]+$)/,
    may: ['operations', 'face', 'parts', 'control stores', 'driver entry', ...LIBRARY_ENTRIES],
    rule: 'composition',
    packages: 'any',
  },
];

const BUILTIN = new Set(builtinModules);

export function layerBreaches(source: Source, peers: readonly string[]): readonly Breach<LayerRule>[] {
  const own = placeOf(source.path);
  if (own === undefined) return [{ rule: 'placed', path: source.path, line: 1, what: 'lies in no layer of the table' }];
  return source.imports.flatMap((imported) => {
    const rule = brokenRule(source.path, own, imported, peers);
    const verb = imported.onDemand ? 'loads' : imported.typeOnly ? 'imports a type of' : 'imports';
    const what = `${verb} '${imported.specifier}'`;
    return rule === undefined ? [] : [{ rule, path: source.path, line: imported.line, what }];
  });
}

/** A published package's `dependencies` are part of the same promise. */
export function dependencyBreaches(
  path: string,
  manifest: { readonly dependencies?: object },
): readonly Breach<LayerRule>[] {
  return Object.keys(manifest.dependencies ?? {}).map((name) => ({
    rule: 'no dependencies',
    path,
    line: 1,
    what: `depends on '${name}'`,
  }));
}

/** The file that a relative import names. Own files are imported by their real names, so nothing has to be looked up. */
export function importedPath(from: string, imported: Import): string | undefined {
  return imported.specifier.startsWith('.') ? posix.join(posix.dirname(from), imported.specifier) : undefined;
}

interface Place {
  readonly layer: Layer;
  readonly unit: string;
}

function placeOf(path: string): Place | undefined {
  for (const layer of LAYERS) {
    const unit = layer.files.exec(path)?.[0];
    if (unit !== undefined) return { layer, unit };
  }
  return undefined;
}

function brokenRule(from: string, own: Place, imported: Import, peers: readonly string[]): LayerRule | undefined {
  const path = importedPath(from, imported);
  return path === undefined ? rulesOnPackage(from, own.layer, imported, peers) : rulesOnPath(from, own, path);
}

function rulesOnPath(from: string, own: Place, path: string): LayerRule | undefined {
  if (LIBRARY.test(from) && path.startsWith('packages/control/')) return 'library first';
  if (!LIBRARY.test(from) && LIBRARY.test(path)) return 'front door';
  const target = placeOf(path);
  if (target === undefined) return 'placed';
  if (target.unit === own.unit || own.layer.may.includes(target.layer.name)) return undefined;
  return own.layer.rule;
}

function rulesOnPackage(from: string, layer: Layer, imported: Import, peers: readonly string[]): LayerRule | undefined {
  const name = packageOf(imported.specifier);
  if (name === '@lazaret/control') return LIBRARY.test(from) ? 'library first' : 'placed';
  if (name === 'lazaret') return layer.may.includes(entryOf(imported)) ? undefined : layer.rule;
  switch (layer.packages) {
    case 'any':
      return undefined;
    case 'none':
      return layer.rule;
    case 'peers':
      if (imported.onDemand && peers.includes(name)) return undefined;
      return isPlatform(imported) ? undefined : 'no dependencies';
    case 'platform':
      return isPlatform(imported) ? undefined : 'no dependencies';
  }
}

/** What an entry of the library counts as, for those who may import only some of them. */
function entryOf(imported: Import): string {
  switch (imported.specifier) {
    case 'lazaret':
    case 'lazaret/core':
      return imported.typeOnly ? 'library types' : 'library';
    case 'lazaret/testing':
      return 'testing entry';
    default:
      return 'driver entry';
  }
}

function isPlatform({ specifier }: Import): boolean {
  return specifier.startsWith('node:') || BUILTIN.has(specifier);
}

function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}
