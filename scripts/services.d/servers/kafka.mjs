import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { ask } from '../handshake.mjs';
import { ensureArtefacts, java, readClassPath } from '../install/maven-artefacts.mjs';
import { run } from '../run.mjs';

const CLUSTER = 'LazaretServicesKafkaAA';

/** One node in KRaft mode, broker and controller. @type {import('../server.mjs').Server} */
export const kafka = {
  name: 'kafka',
  variable: 'LAZARET_KAFKA_BROKERS',
  ports: [21750, 21751],
  install: () => ensureArtefacts('kafka'),
  async prepare(place) {
    const { folder } = place;
    writeFileSync(`${folder}/server.properties`, properties(place));
    writeFileSync(`${folder}/log4j2.yaml`, LOGGING);
    if (!existsSync(`${folder}/data/made`)) await makeData(folder);
    return { program: found(), args: javaArguments(folder, '512m', 'kafka.Kafka', `${folder}/server.properties`) };
  },
  answers: ({ ports: [port] }) => ask(port, METADATA_REQUEST, namesABroker),
  address: ({ ports: [port] }) => `127.0.0.1:${port}`,
};

/**
 * All or nothing: what a call that was cut short left behind is begun again.
 * @param {string} folder
 */
async function makeData(folder) {
  rmSync(`${folder}/data`, { recursive: true, force: true });
  mkdirSync(`${folder}/data`);
  const storage = ['format', '-t', CLUSTER, '-c', `${folder}/server.properties`];
  await run(found(), javaArguments(folder, '128m', 'kafka.tools.StorageTool', ...storage));
  mkdirSync(`${folder}/data/made`);
}

/**
 * @param {string} folder
 * @param {string} heap
 * @param {readonly string[]} main
 */
function javaArguments(folder, heap, ...main) {
  const logging = `-Dlog4j2.configurationFile=${folder}/log4j2.yaml`;
  const classPath = /** @type {string} */ (readClassPath('kafka'));
  return [`-Xmx${heap}`, '-Djava.net.preferIPv4Stack=true', logging, '-cp', classPath, ...main];
}

const found = () => /** @type {string} */ (java());

/**
 * Short sessions, so that a node that was killed need not wait for its own ghost to time out, and groups form at once.
 * @param {import('../server.mjs').Place} place
 */
function properties({ folder, ports: [port, controller] }) {
  return `
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
log.dirs=${folder}/data/log
auto.create.topics.enable=false
num.partitions=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=4
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
group.consumer.min.session.timeout.ms=1000
group.consumer.min.heartbeat.interval.ms=500
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
log.retention.check.interval.ms=5000
`;
}

const LOGGING = `
Configuration:
  Appenders:
    Console: { name: out, PatternLayout: { pattern: "%d %p %c{1} %m%n" } }
  Loggers:
    Root: { level: warn, AppenderRef: { ref: out } }
`;

/** Metadata, version 1, of no topic: length, key 3, version, correlation, no client id, an empty list. */
const METADATA_REQUEST = Buffer.from('0000000e 0003 0001 00000007 ffff 00000000'.replaceAll(' ', ''), 'hex');

/**
 * The broker names itself only once the controller has let it in. The count follows the length and the correlation.
 * @param {Buffer} heard
 */
function namesABroker(heard) {
  return heard.length >= 12 && heard.readInt32BE(8) > 0;
}
