// Who a process is: its number alone may belong to a stranger by now.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * @typedef {object} Known
 * @property {number} pid
 * @property {string} birth   the boot of the machine and the tick of the start; no other process with this pid shares it
 */

/** @typedef {{ parent: number, startTick: number, dead: boolean }} Stat */

/**
 * Takes /proc/<pid>/stat apart. A zombie counts as dead, for in a container nobody may ever bury it; but only when its
 * last thread has gone: until then it holds ports and locks.
 * @param {string} text
 * @returns {Stat}
 */
export function parseStat(text) {
  // The name of the program stands in parentheses and may hold any character, these included.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const dead = 'ZXx'.includes(fields[0] ?? 'X') && Number(fields[17]) <= 1;
  return { parent: Number(fields[1]), startTick: Number(fields[19]), dead };
}

/**
 * @param {string} text
 * @returns {Known | undefined} nothing when it is not a record of ours, whole
 */
export function parseRecord(text) {
  const found = /^(?<pid>[1-9]\d*) (?<birth>\S+)\n$/.exec(text)?.groups;
  return found && { pid: Number(found.pid), birth: String(found.birth) };
}

/** @param {Known} known */
export function formatRecord({ pid, birth }) {
  return `${pid} ${birth}\n`;
}

/** @param {Known} known */
export function isAlive({ pid, birth }) {
  return identify(pid)?.birth === birth;
}

/**
 * Does nothing to one that has died, nor to a stranger who got its number.
 * @param {Known} known
 * @param {NodeJS.Signals} name
 */
export function signal(known, name) {
  if (!isAlive(known)) return;
  try {
    process.kill(known.pid, name);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}

/**
 * The process and all that descend from it, parents first.
 * @param {Known} head
 * @returns {readonly Known[]}
 */
export function familyOf(head) {
  /** @type {Map<number, Known[]>} */
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    const stat = statOf(name);
    if (stat === undefined) continue;
    const child = { pid: Number(name), birth: birthOf(stat) };
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), child]);
  }
  const family = [head];
  for (const member of family) family.push(...(children.get(member.pid) ?? []));
  return family;
}

/**
 * @param {import('./server.mjs').Place} place
 * @param {number} pid
 * @returns {Known}
 */
export function remember(place, pid) {
  const known = identify(pid);
  if (known === undefined) throw new Error('it ended at once');
  writeFileSync(recordOf(place.folder), formatRecord(known));
  return known;
}

/**
 * What was started here and lives.
 * @param {import('./server.mjs').Place} place
 * @returns {Known | undefined}
 */
export function recall(place) {
  const known = parseRecord(readOr(recordOf(place.folder), ''));
  return known && isAlive(known) ? known : undefined;
}

/**
 * Waits, 5 s at most, until the kernel has forgotten a process that was started here and has died.
 * @param {string} folder
 */
export async function burial(folder) {
  const known = parseRecord(readOr(recordOf(folder), ''));
  for (let tries = 0; tries < 250 && known !== undefined && liesDead(known); tries++) await sleep(20);
}

/** @param {Known} known */
function liesDead({ pid, birth }) {
  const stat = statOf(String(pid));
  return stat?.dead === true && birthOf(stat) === birth;
}

/** @param {string} folder */
function recordOf(folder) {
  return `${folder}/pid`;
}

/**
 * @param {number} pid
 * @returns {Known | undefined}
 */
function identify(pid) {
  const stat = statOf(String(pid));
  return stat === undefined || stat.dead ? undefined : { pid, birth: birthOf(stat) };
}

/** @param {string} pid */
function statOf(pid) {
  const text = /^\d+$/.test(pid) ? readOr(`/proc/${pid}/stat`, '') : '';
  return text === '' ? undefined : parseStat(text);
}

/** @param {Stat} stat */
function birthOf(stat) {
  return `${readOr('/proc/sys/kernel/random/boot_id', '').trim()}:${stat.startTick}`;
}

/**
 * @param {string} path
 * @param {string} otherwise
 */
function readOr(path, otherwise) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return otherwise;
  }
}
