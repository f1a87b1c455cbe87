import { accessSync, constants } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withLock } from '../lock.mjs';
import { run } from '../run.mjs';

const APT_INSTALL = fileURLToPath(new URL('apt-install.sh', import.meta.url));
// n.b. it guards what all state folders share, so it lies where the package manager keeps its own.
const LOCK = '/var/cache/apt/lazaret.lock';

/**
 * Makes sure that a package's program is there.
 * @param {string} packages   names for the package manager, separated by blanks
 * @param {() => string | undefined} find   where the program is
 */
export async function ensurePackage(packages, find) {
  if (find() !== undefined) return;
  if (!isRoot()) throw new Error(`it is not installed; run \`sudo apt-get install ${packages}\`, or this as root`);
  await withLock(LOCK, async () => {
    if (find() === undefined) await run(APT_INSTALL, packages.split(' '));
  });
  if (find() === undefined) throw new Error(`${packages} was installed, but its program is not where it is looked for`);
}

export function isRoot() {
  return process.getuid?.() === 0;
}

/**
 * Where a program is; the folders for administrators are looked through for everyone.
 * @param {string} name
 */
export function findProgram(name) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  return firstExecutable(folders.map((folder) => `${folder}/${name}`));
}

/** @param {readonly string[]} paths */
export function firstExecutable(paths) {
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
