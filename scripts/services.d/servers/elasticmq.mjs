import { mkdirSync, writeFileSync } from 'node:fs';
import { ensureArtefacts, java, readClassPath } from '../install/maven-artefacts.mjs';

/** Speaks SQS. @type {import('../server.mjs').Server} */
export const elasticmq = {
  name: 'elasticmq',
  variable: 'LAZARET_SQS_ENDPOINT',
  ports: [21760],
  install: () => ensureArtefacts('elasticmq'),
  async prepare({ folder, ports: [port] }) {
    mkdirSync(`${folder}/data`, { recursive: true });
    writeFileSync(`${folder}/elasticmq.conf`, configuration(folder, port));
    const classPath = /** @type {string} */ (readClassPath('elasticmq'));
    const memory = ['-XX:+UseSerialGC', '-Xmx256m'];
    const main = 'org.elasticmq.server.Main';
    return {
      program: /** @type {string} */ (java()),
      args: [...memory, `-Dconfig.file=${folder}/elasticmq.conf`, '-cp', classPath, main],
    };
  },
  answers: async (place) => {
    const response = await fetch(elasticmq.address(place), listQueues());
    return response.ok && (await response.text()).includes('QueueUrls');
  },
  address: ({ ports: [port] }) => `http://127.0.0.1:${port}`,
};

/** @returns {RequestInit} */
const listQueues = () => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.ListQueues' },
  body: '{}',
  signal: AbortSignal.timeout(2000),
});

/**
 * Queues and messages survive a crash, as they do at the original.
 * n.b. without the included file each request logs a warning; without the address, queue URLs name the default port.
 * @param {string} folder
 * @param {number} port
 */
function configuration(folder, port) {
  return `
include classpath("application.conf")
node-address { protocol = http, host = "127.0.0.1", port = ${port}, context-path = "" }
rest-sqs { enabled = true, bind-hostname = "127.0.0.1", bind-port = ${port}, sqs-limits = strict }
rest-stats { enabled = false }
aws { region = us-east-1, accountId = "000000000000" }
pekko.http.server.request-timeout = 30s
queues-storage { enabled = true, path = "${folder}/data/queues.conf" }
messages-storage { enabled = true, uri = "jdbc:h2:${folder}/data/messages;WRITE_DELAY=0" }
`;
}
