import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CYCLE_RULES, cycleBreaches } from './architecture/cycles.ts';
import { dependencyBreaches, LAYER_RULES, layerBreaches } from './architecture/layers.ts';
import { PURITY_RULES, purityBreaches } from './architecture/purity.ts';
import { type Breach, parse } from './architecture/source.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LIBRARY_MANIFEST = 'packages/lazaret/package.json';
const RULES = { ...LAYER_RULES, ...CYCLE_RULES, ...PURITY_RULES };
type Rule = keyof typeof RULES;

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

function breachesOf(texts: Readonly<Record<string, string>>, manifest: Manifest): readonly Breach<Rule>[] {
  const sources = Object.entries(texts).map(([path, text]) => parse(path, text));
  const peers = Object.keys(manifest.peerDependencies ?? {});
  return [
    ...dependencyBreaches(LIBRARY_MANIFEST, manifest),
    ...sources.flatMap((source) => [...layerBreaches(source, peers), ...purityBreaches(source)]),
    ...cycleBreaches(sources),
  ];
}

function told({ path, line, what, rule }: Breach<Rule>): string {
  return `${path}:${line} ${what}; but ${RULES[rule]}`;
}

describe('the sources', () => {
  const paths = readdirSync(`${ROOT}packages`).flatMap((name) => sourcesUnder(`packages/${name}/src`));
  const texts = Object.fromEntries(paths.map((path) => [path, readFileSync(ROOT + path, 'utf8')]));
  const breaches = breachesOf(texts, JSON.parse(readFileSync(ROOT + LIBRARY_MANIFEST, 'utf8')));

  it('are all walked', () => {
    expect(paths).toContain('packages/lazaret/src/core/errors.ts');
    expect(paths).toContain('packages/control/src/main.ts');
  });

  it.each(Object.keys(RULES) as Rule[])('keep the rule "%s"', (rule) => {
    expect(breaches.filter((breach) => breach.rule === rule).map(told)).toEqual([]);
  });
});

function sourcesUnder(folder: string): readonly string[] {
  return readdirSync(ROOT + folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[cm]?tsx?$/.test(name))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .sort();
}

describe('a planted breach', () => {
  const peers: Manifest = { peerDependencies: { 'better-sqlite3': '*' } };
  const library = (path: string) => `packages/lazaret/src/${path}`;
  const control = (path: string) => `packages/control/src/${path}`;

  const LAYERS: readonly (readonly [Rule, string, string])[] = [
    ['core', library('core/a.ts'), "import type { System } from '../ports/system.ts';"],
    ['core', library('core/a.ts'), "import { createHash } from 'node:crypto';"],
    ['core', library('core/a.ts'), "export type A = import('../ports/system.ts').System;"],
    ['core', library('core/a.ts'), "export * from '../runtime/a.ts';"],
    ['ports', library('ports/a.ts'), "import type { A } from '../runtime/a.ts';"],
    ['runtime', library('runtime/a.ts'), "import { memory } from '../drivers/memory/index.ts';"],
    ['runtime', library('runtime/a.ts'), "import { realSystem } from '../system.ts';"],
    ['runtime', library('runtime/a.ts'), "const a = await import('../testing/index.ts');"],
    ['driver', library('drivers/sqlite/a.ts'), "import { memory } from '../memory/index.ts';"],
    ['driver', library('drivers/memory/a.ts'), "import type { Run } from '../../runtime/run.ts';"],
    ['driver', library('drivers/sqlite/a.ts'), "import { memory } from 'lazaret/memory';"],
    ['store', library('stores/sqlite/a.ts'), "import { open } from '../../drivers/sqlite/open.ts';"],
    ['store', library('stores/sqlite/a.ts'), "import { memoryStore } from '../memory/index.ts';"],
    ['shared by drivers and stores', library('sqlite/a.ts'), "import { sqlite } from '../drivers/sqlite/index.ts';"],
    ['testing', library('testing/a.ts'), "import { sqlite } from '../drivers/sqlite/index.ts';"],
    ['composition', library('index.ts'), "export { ManualSystem } from './testing/manual-system.ts';"],
    ['composition', control('main.ts'), "import { ManualSystem } from 'lazaret/testing';"],
    ['no dependencies', library('runtime/a.ts'), "import pino from 'pino';"],
    ['no dependencies', library('testing/a.ts'), "import { test } from 'vitest';"],
    ['no dependencies', library('drivers/sqlite/a.ts'), "import Database from 'better-sqlite3';"],
    ['no dependencies', library('drivers/sqlite/a.ts'), "const a = await import('sqlite3');"],
    ['no dependencies', library('drivers/sqlite/a.ts'), "const a = require('sqlite3');"],
    ['library first', library('runtime/a.ts'), "import { embed } from '@lazaret/control';"],
    ['library first', library('core/a.ts'), "import { a } from '../../../control/src/operations/a.ts';"],
    ['operations', control('operations/a.ts'), "import { sqlite } from 'lazaret/sqlite';"],
    ['operations', control('operations/a.ts'), "import { store } from '../stores/sqlite.ts';"],
    ['operations', control('operations/a.ts'), "import type { Command } from '../cli/command.ts';"],
    ['faces', control('cli/a.ts'), "import { lazaret } from 'lazaret';"],
    ['faces', control('cli/a.ts'), "import { server } from '../api/server.ts';"],
    ['faces', control('api/a.ts'), "import { collect } from '../collector/collect.ts';"],
    ['parts', control('collector/a.ts'), "import { store } from '../stores/sqlite.ts';"],
    ['parts', control('replay/a.ts'), "import { list } from '../operations/list.ts';"],
    ['control stores', control('stores/a.ts'), "import { list } from '../operations/list.ts';"],
    ['front door', control('main.ts'), "import { realSystem } from '../../lazaret/src/system.ts';"],
    ['placed', library('helpers/a.ts'), 'export {};'],
    ['placed', library('runtime/a.ts'), "import { fixture } from '../../test/fixture.ts';"],
  ];

  it.each(LAYERS)('of "%s" is caught: %s says %s', (rule, path, text) => {
    expect(breachesOf({ [path]: text }, peers)).toMatchObject([{ rule, path, line: 1 }]);
  });

  const PURITY: readonly (readonly [Rule, string])[] = [
    ['time and chance', 'const a = Date.now();'],
    ['time and chance', 'const clock = Date.now;'],
    ['time and chance', "const a = Date['now']();"],
    ['time and chance', 'const a = new Date();'],
    ['time and chance', 'const a = new Date;'],
    ['time and chance', 'const a = Date();'],
    ['time and chance', 'const { now } = Date;'],
    ['time and chance', 'const a = Math.random();'],
    ['time and chance', 'const { random: draw } = Math;'],
    ['time and chance', 'setTimeout(() => {}, 1);'],
    ['time and chance', 'globalThis.setTimeout(() => {}, 1);'],
    ['time and chance', 'const timers = { setInterval };'],
    ['time and chance', 'const later = setImmediate;'],
    ['time and chance', 'const a = performance.now();'],
    ['time and chance', "import { performance as p } from 'node:perf_hooks'; p.now();"],
    ['time and chance', 'const a = process.hrtime.bigint();'],
    ['time and chance', 'const a = crypto.randomUUID();'],
    ['time and chance', 'globalThis.crypto.getRandomValues(bytes);'],
    ['time and chance', "import { randomUUID as id } from 'node:crypto';"],
    ['time and chance', "import c from 'crypto'; c.randomBytes(4);"],
    ['time and chance', 'const signal = AbortSignal.timeout(5);'],
    ['time and chance', "import { setTimeout as sleep } from 'node:timers/promises';"],
    ['time and chance', "const { setTimeout: sleep } = await import('timers/promises');"],
    ['environment', 'const a = process.env.HOME;'],
    ['environment', 'const a = globalThis.process.env;'],
    ['environment', 'const { env } = process;'],
    ['environment', "import { env } from 'node:process';"],
    ['environment', "import * as p from 'node:process'; p.env;"],
  ];

  it.each(PURITY)('of "%s" is caught: %s', (rule, text) => {
    const path = library('runtime/a.ts');
    expect(breachesOf({ [path]: `\n${text}` }, peers)).toMatchObject([{ rule, path, line: 2 }]);
  });

  it('of "environment" is caught in the real System too', () => {
    expect(breachesOf({ [library('system.ts')]: 'process.env.TZ;' }, peers)).toMatchObject([{ rule: 'environment' }]);
  });

  it('of "no dependencies" is caught in package.json', () => {
    expect(breachesOf({}, { dependencies: { pino: '1.0.0' } })).toMatchObject([
      { rule: 'no dependencies', path: LIBRARY_MANIFEST, what: "depends on 'pino'" },
    ]);
  });

  it('of "no circles" is caught once, with the way round', () => {
    const circle = {
      [library('core/a.ts')]: "import { b } from './b.ts';",
      [library('core/b.ts')]: "\nexport { c } from './c.ts';",
      [library('core/c.ts')]: "import type { b } from './b.ts';\nconst a = await import('./a.ts');",
    };
    expect(breachesOf(circle, peers).map(told)).toEqual([
      'packages/lazaret/src/core/c.ts:2 closes the circle packages/lazaret/src/core/a.ts → packages/lazaret/src/core/b.ts → ' +
        'packages/lazaret/src/core/c.ts → packages/lazaret/src/core/a.ts; but files do not import each other in a circle (type-only imports excepted)',
    ]);
  });

  it('is known for every rule', () => {
    const planted = new Set([...LAYERS, ...PURITY].map(([rule]) => rule));
    expect(Object.keys(RULES).filter((rule) => !planted.has(rule as Rule))).toEqual(['no circles']);
  });

  it.each([
    [library('core/a.ts'), "import type { B } from './b.ts';\nnew Date(0);\nDate.UTC(1, 1);\nMath.max(1);"],
    [library('core/a.ts'), "// Date.now() and import '../runtime/a.ts'\nconst text = 'setTimeout(Math.random)';"],
    [
      library('core/b.ts'),
      'interface Timers { setTimeout(ms: number): void }\ntype Id = ReturnType<typeof setTimeout>;',
    ],
    [library('core/b.ts'), 'const system = { now: 1, setTimeout: 2 };\nsystem.setTimeout;\nsystem.now;'],
    [library('ports/a.ts'), "import type { Message } from '../core/message.ts';"],
    [library('runtime/a.ts'), "import { fork } from 'node:child_process';\nqueueMicrotask(() => {});\nimport(url);"],
    [library('drivers/sqlite/a.ts'), "import { DatabaseSync } from 'node:sqlite';\nawait import('better-sqlite3');"],
    [library('drivers/sqlite/a.ts'), "const require = createRequire(url);\nrequire('better-sqlite3');"],
    [library('testing/a.ts'), "import { memory } from '../drivers/memory/index.ts';"],
    [library('index.ts'), "export { Poison } from './core/branded.ts';\nimport('./drivers/sqlite/index.ts');"],
    [library('system.ts'), "import { randomFillSync } from 'node:crypto';\nDate.now();\nsetTimeout(f, 1);"],
    [control('main.ts'), "import { sqlite } from 'lazaret/sqlite';\nprocess.env.NO_COLOR;\nnew Date();"],
    [control('operations/a.ts'), "import { Type } from 'typebox';\nimport { lazaret } from 'lazaret';"],
    [control('cli/a.ts'), "import { list } from '../operations/list.ts';\nimport type { Reason } from 'lazaret/core';"],
  ])('is not seen where there is none: %s', (path, text) => {
    expect(breachesOf({ [path]: text }, peers)).toEqual([]);
  });

  it('is told with file, line, what and the sentence of the rule', () => {
    const [breach] = breachesOf({ [library('core/a.ts')]: "import type { System } from '../ports/system.ts';" }, peers);
    expect(told(breach!)).toBe(
      "packages/lazaret/src/core/a.ts:1 imports a type of '../ports/system.ts'; but core imports nothing from outside core, not even a type",
    );
  });
});
