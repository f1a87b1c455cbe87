import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { withLock } from '../lock.mjs';
import { stateFolder } from '../place.mjs';
import { run } from '../run.mjs';
import { ensurePackage, findProgram } from './debian-package.mjs';

const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';

/**
 * Makes sure that Java, and all that a server of `../maven` is made of, is there.
 * @param {string} name
 */
export async function ensureArtefacts(name) {
  await ensurePackage('default-jre-headless', java);
  if (readClassPath(name) !== undefined) return;
  await ensurePackage('maven', () => findProgram('mvn'));
  const { pom, kept } = filesOf(name);
  // n.b. Maven's own store of artefacts does not bear two writers.
  const store = `${homedir()}/.m2`;
  mkdirSync(store, { recursive: true });
  await withLock(`${store}/lazaret.lock`, async () => {
    await run('mvn', ['-B', '-q', '-f', pom, `${PLUGIN}:build-classpath`, `-Dmdep.outputFile=${kept}`]);
  });
  writeFileSync(`${kept}.pom`, readFileSync(pom));
}

/** Where Java is. */
export const java = () => findProgram('java');

/**
 * Nothing when it was never fetched, when the list has changed since, or when an artefact has gone.
 * @param {string} name
 * @returns {string | undefined}
 */
export function readClassPath(name) {
  const { pom, kept } = filesOf(name);
  if (!existsSync(kept) || !existsSync(`${kept}.pom`)) return undefined;
  if (!readFileSync(`${kept}.pom`).equals(readFileSync(pom))) return undefined;
  const classPath = readFileSync(kept, 'utf8').trim();
  return classPath.split(':').every((path) => existsSync(path)) ? classPath : undefined;
}

/** @param {string} name */
function filesOf(name) {
  return {
    pom: fileURLToPath(new URL(`../maven/${name}.xml`, import.meta.url)),
    kept: `${stateFolder()}/${name}.classpath`,
  };
}
