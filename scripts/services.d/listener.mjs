// Who listens on a port, as the kernel tells it.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTENING = '0A';

/**
 * @param {readonly import('./process.mjs').Known[]} family
 * @param {number} port
 */
export function listens(family, port) {
  // n.b. a Java server binds 127.0.0.1 as an IPv6 socket.
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFileSync(path, 'utf8'));
  const sockets = new Set(tables.flatMap((table) => listenersIn(table, port)).map((inode) => `socket:[${inode}]`));
  return family.some(({ pid }) => openFiles(pid).some((file) => sockets.has(file)));
}

/**
 * The inodes of the sockets that listen on a port, from the text of /proc/net/tcp.
 * @param {string} table
 * @param {number} port
 * @returns {readonly string[]}
 */
export function listenersIn(table, port) {
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/));
  return rows.flatMap(([, local = '', , state, , , , , , inode]) =>
    inode !== undefined && state === LISTENING && Number.parseInt(local.split(':')[1] ?? '', 16) === port
      ? [inode]
      : [],
  );
}

/**
 * Empty for a process that has ended meanwhile, or belongs to another user.
 * @param {number} pid
 * @returns {readonly string[]}
 */
function openFiles(pid) {
  const folder = `/proc/${pid}/fd`;
  return namesIn(folder).map((name) => targetOf(`${folder}/${name}`));
}

/** @param {string} folder */
function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** @param {string} link */
function targetOf(link) {
  try {
    return readlinkSync(link);
  } catch {
    return ''; // closed since the folder was read
  }
}
