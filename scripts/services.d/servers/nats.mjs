import { mkdirSync, writeFileSync } from 'node:fs';
import { ask } from '../handshake.mjs';
import { ensurePackage, findProgram } from '../install/debian-package.mjs';

/** With JetStream. @type {import('../server.mjs').Server} */
export const nats = {
  name: 'nats',
  variable: 'LAZARET_NATS_URL',
  ports: [21740],
  install: () => ensurePackage('nats-server', program),
  async prepare({ folder, ports: [port] }) {
    mkdirSync(`${folder}/data`, { recursive: true });
    writeFileSync(`${folder}/nats.conf`, configuration(folder, port));
    return { program: /** @type {string} */ (program()), args: ['--config', `${folder}/nats.conf`] };
  },
  // What JetStream holds is an answer that only JetStream gives, and only when it has recovered.
  answers: ({ ports: [port] }) => ask(port, ASK_JETSTREAM, (heard) => heard.includes('"memory":')),
  address: ({ ports: [port] }) => `nats://127.0.0.1:${port}`,
};

const ASK_JETSTREAM = 'CONNECT {"verbose":false}\r\nSUB answer 1\r\nPUB $JS.API.INFO answer 0\r\n\r\n';

const program = () => findProgram('nats-server');

/**
 * n.b. what is acknowledged has reached the operating system, not the disk: it survives a crash of the server, which
 * is what the suites do to it, and not of the machine.
 * @param {string} folder
 * @param {number} port
 */
function configuration(folder, port) {
  return `
host: 127.0.0.1
port: ${port}
jetstream {
  store_dir: "${folder}/data"
  max_memory_store: 256MB
  max_file_store: 2GB
}
`;
}
