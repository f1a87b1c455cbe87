// One folder for everything that the servers leave on this machine, and the ports that belong to it.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { resolve } from 'node:path';

/** @typedef {import('./server.mjs').Server} Server */
/** @typedef {import('./server.mjs').Place} Place */

/** Made on demand. n.b. in a shared folder for temporary files a stranger may have made it first. */
export function stateFolder() {
  const folder = resolve(process.env.LAZARET_SERVICES || `${tmpdir()}/lazaret-services`);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (statSync(folder).uid !== userInfo().uid)
    throw new Error(`${folder} belongs to another user; set LAZARET_SERVICES`);
  return folder;
}

/**
 * @param {Server} server
 * @returns {Place}
 */
export function placeOf(server) {
  const folder = `${stateFolder()}/${server.name}`;
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const kept = `${folder}/ports`;
  return { folder, ports: existsSync(kept) ? parsePorts(readFileSync(kept, 'utf8')) : server.ports };
}

/**
 * Takes ports for the first start, and the same ones for every later start: the first choice where nobody listens
 * there, else the same numbers a hundred higher, and so on. Throws when a stranger sits on ports that were taken before.
 * @param {Server} server
 * @param {Place} place
 * @returns {Promise<Place>}
 */
export async function claimPorts(server, { folder, ports }) {
  const kept = `${folder}/ports`;
  if (existsSync(kept)) {
    const taken = await firstTaken(ports);
    if (taken === undefined) return { folder, ports };
    throw new Error(`another process listens on port ${taken}; stop it, or remove ${kept} to move to other ports`);
  }
  for (let shift = 0; shift <= 10_000; shift += 100) {
    const [client, ...others] = server.ports;
    const shifted = /** @type {const} */ ([client + shift, ...others.map((port) => port + shift)]);
    if ((await firstTaken(shifted)) !== undefined) continue;
    writeFileSync(kept, `${shifted.join(' ')}\n`);
    return { folder, ports: shifted };
  }
  throw new Error(`no free ports from ${server.ports[0]} up`);
}

/**
 * @param {string} text
 * @returns {import('./server.mjs').Ports}
 */
export function parsePorts(text) {
  const [client, ...others] = text.trim().split(' ').map(Number);
  if (!client) throw new Error(`"${text}" names no port`);
  return [client, ...others];
}

/** @param {readonly number[]} ports */
async function firstTaken(ports) {
  for (const port of ports) if (!(await isFree(port))) return port;
  return undefined;
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
