import { mkdirSync, writeFileSync } from 'node:fs';
import { ask } from '../handshake.mjs';
import { ensurePackage, findProgram } from '../install/debian-package.mjs';

/** @type {import('../server.mjs').Server} */
export const redis = {
  name: 'redis',
  variable: 'LAZARET_REDIS_URL',
  ports: [21700],
  install: () => ensurePackage('redis-server', program),
  async prepare({ folder, ports: [port] }) {
    mkdirSync(`${folder}/data`, { recursive: true });
    writeFileSync(`${folder}/redis.conf`, configuration(folder, port));
    return { program: /** @type {string} */ (program()), args: [`${folder}/redis.conf`] };
  },
  // While it loads its data it answers -LOADING.
  answers: ({ ports: [port] }) => ask(port, 'PING\r\n', (heard) => heard.includes('+PONG\r\n')),
  address: ({ ports: [port] }) => `redis://127.0.0.1:${port}`,
};

const program = () => findProgram('redis-server');

/**
 * What is answered has reached the disk, and nothing is ever evicted.
 * @param {string} folder
 * @param {number} port
 */
function configuration(folder, port) {
  return `
bind 127.0.0.1
port ${port}
dir "${folder}/data"
appendonly yes
appendfsync always
save ""
maxmemory-policy noeviction
`;
}
