import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { stateFolder } from '../place.mjs';
import { run } from '../run.mjs';
import { ensurePackage, findProgram, isRoot } from './debian-package.mjs';

/**
 * A small Debian of another release in a folder of its own, for programs newer than the machine has. The machine
 * itself stays as it is.
 * @typedef {object} DebianRoot
 * @property {string} name
 * @property {string} package   what it is made for
 * @property {readonly string[]} suites   where to take it from; the first that yields what is wanted
 * @property {(folder: string) => boolean} isWanted   whether it holds the right version
 */

/** @param {DebianRoot} root */
export async function ensureRoot(root) {
  if (existsSync(folderOf(root.name))) return;
  if (!isRoot()) throw new Error('a program of another Debian needs root; use deploy/compose.yaml instead');
  await ensurePackage('debootstrap debian-archive-keyring', () => findProgram('debootstrap'));
  const refusals = [];
  for (const suite of root.suites) {
    try {
      return await make(root, suite);
    } catch (error) {
      refusals.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(refusals.join('\n'));
}

/** @param {string} name */
export function folderOf(name) {
  return `${stateFolder()}/root-${name}`;
}

/**
 * All or nothing: it carries its name only when it is whole.
 * @param {DebianRoot} root
 * @param {string} suite
 */
async function make(root, suite) {
  const folder = `${folderOf(root.name)}.unfinished`;
  rmSync(folder, { recursive: true, force: true });
  await run('debootstrap', ['--variant=minbase', `--include=${root.package}`, suite, folder, ...(await mirror())]);
  if (!root.isWanted(folder)) throw new Error(`${suite} has another version of ${root.package}`);
  // n.b. not every suite brings one, and Erlang wants to know where localhost is.
  writeFileSync(`${folder}/etc/hosts`, '127.0.0.1 localhost\n');
  for (const cache of ['var/cache/apt/archives', 'var/lib/apt/lists']) empty(`${folder}/${cache}`);
  renameSync(folder, folderOf(root.name));
}

/** Where this machine takes Debian from; none when it is no Debian, and then debootstrap's own choice stands. */
async function mirror() {
  const format = '$(ORIGIN)|$(LABEL)|$(REPO_URI)';
  const listed = await run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']);
  const found = /^Debian\|Debian\|(?<uri>.+)$/m.exec(listed)?.groups?.uri;
  return found === undefined ? [] : [found];
}

/** @param {string} folder */
function empty(folder) {
  for (const name of readdirSync(folder)) rmSync(`${folder}/${name}`, { recursive: true });
}
