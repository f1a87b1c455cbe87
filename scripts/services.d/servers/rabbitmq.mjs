import { mkdirSync, writeFileSync } from 'node:fs';
import { converse } from '../handshake.mjs';
import { ensurePackage, firstExecutable } from '../install/debian-package.mjs';

// n.b. not the one in PATH: that one changes to the system's user and data.
const SERVER = '/usr/lib/rabbitmq/bin/rabbitmq-server';

/** The version that the distribution has. @type {import('../server.mjs').Server} */
export const rabbitmq = {
  name: 'rabbitmq',
  variable: 'LAZARET_RABBITMQ_URL',
  ports: [21720, 21721, 21722],
  install: () => ensurePackage('rabbitmq-server', () => firstExecutable([SERVER])),
  async prepare(place) {
    writeConfiguration(place);
    return { program: 'sh', args: ['-c', START], env: environment(place.folder, place) };
  },
  answers: logsIn,
  address: ({ ports: [port] }) => `amqp://guest:guest@127.0.0.1:${port}`,
};

/**
 * Erlang's port mapper would otherwise be started behind our back, on all interfaces, and outlive the server.
 */
export const START = `epmd -address "$ERL_EPMD_ADDRESS" -port "$ERL_EPMD_PORT" & exec ${SERVER}`;

/** @param {import('../server.mjs').Place} place */
export function writeConfiguration({ folder, ports: [port] }) {
  mkdirSync(`${folder}/data`, { recursive: true });
  writeFileSync(`${folder}/rabbitmq.conf`, configuration(port));
  writeFileSync(`${folder}/plugins`, '[].\n');
}

/** @param {number} port */
function configuration(port) {
  return `
listeners.tcp.1 = 127.0.0.1:${port}
log.file = false
log.console = true
log.console.use_colors = off
`;
}

/**
 * @param {string} folder   as the server sees it
 * @param {import('../server.mjs').Place} place
 */
export function environment(folder, { ports: [, distribution, mapper] }) {
  return {
    HOME: folder,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(mapper),
    RABBITMQ_NODENAME: 'lazaret@localhost',
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
    RABBITMQ_MNESIA_BASE: `${folder}/data`,
    RABBITMQ_LOG_BASE: `${folder}/data`,
    RABBITMQ_PID_FILE: `${folder}/data/pid`,
    RABBITMQ_CONFIG_FILE: `${folder}/rabbitmq`,
    RABBITMQ_ADVANCED_CONFIG_FILE: `${folder}/advanced.config`,
    RABBITMQ_ENABLED_PLUGINS_FILE: `${folder}/plugins`,
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
  };
}

/**
 * As far as connection.tune, which comes only after the server has looked the guest up.
 * @param {import('../server.mjs').Place} place
 */
export function logsIn({ ports: [port] }) {
  return converse(port, [
    ['AMQP\0\0\x09\x01', (heard) => isMethod(heard, 10, 10)],
    [startOk(), (heard) => isMethod(heard, 10, 30)],
  ]);
}

/**
 * @param {Buffer} heard
 * @param {number} group
 * @param {number} method
 */
function isMethod(heard, group, method) {
  return heard.length >= 11 && heard.readUInt16BE(7) === group && heard.readUInt16BE(9) === method;
}

/** connection.start-ok: no properties, PLAIN, guest's name and password, locale. */
function startOk() {
  const login = Buffer.from('\0guest\0guest');
  const payload = Buffer.concat([
    Buffer.from([0, 10, 0, 11, 0, 0, 0, 0, 5]),
    Buffer.from('PLAIN'),
    Buffer.from([0, 0, 0, login.length]),
    login,
    Buffer.from('\x05en_US'),
  ]);
  return Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, payload.length]), payload, Buffer.from([0xce])]);
}
