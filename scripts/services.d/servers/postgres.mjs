import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { ask } from '../handshake.mjs';
import { ensurePackage, findProgram, firstExecutable, isRoot } from '../install/debian-package.mjs';
import { burial } from '../process.mjs';
import { run } from '../run.mjs';

const NAME = 'lazaret';
const VERSIONS = '/usr/lib/postgresql';

/** @type {import('../server.mjs').Server} */
export const postgres = {
  name: 'postgres',
  variable: 'LAZARET_POSTGRES_URL',
  ports: [21710],
  install: () => ensurePackage('postgresql', () => find('postgres')),
  async prepare({ folder, ports: [port] }) {
    const account = isRoot() ? accountOf('postgres') : undefined;
    if (!existsSync(`${folder}/data/made`)) await makeData(`${folder}/data`, account);
    // It looks for its forerunner by the number in this file, and takes an unburied one for alive.
    if (existsSync(`${folder}/data/cluster/postmaster.pid`)) await burial(folder);
    return { program: found('postgres'), args: ['-D', `${folder}/data/cluster`, ...settings(port)], account };
  },
  answers: ({ ports: [port] }) => ask(port, startup(), asksForPassword),
  address: ({ ports: [port] }) => `postgres://${NAME}:${NAME}@127.0.0.1:${port}/${NAME}`,
  // The "fast" shutdown: SIGTERM would wait until the last client has gone.
  stopSignal: 'SIGINT',
};

/** @param {number} port */
function settings(port) {
  const values = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    fsync: 'on',
    synchronous_commit: 'on',
    shared_buffers: '32MB',
    max_connections: 100,
    max_wal_size: '256MB',
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * All or nothing: what a call that was cut short left behind is begun again.
 * @param {string} folder
 * @param {import('../server.mjs').Account | undefined} account
 */
async function makeData(folder, account) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  // n.b. the server refuses to run as root, and demands that its data belong to whom it runs as.
  if (account) chownSync(folder, account.uid, account.gid);
  const cluster = `${folder}/cluster`;
  const how = account ? { account } : {};
  const password = `${folder}/password`;
  writeFileSync(password, `${NAME}\n`);
  const login = ['--username', NAME, '--auth=scram-sha-256', '--pwfile', password];
  await run(found('initdb'), ['-D', cluster, '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8', ...login], how);
  await run(found('postgres'), ['--single', '-D', cluster, 'postgres'], { input: `CREATE DATABASE ${NAME}\n`, ...how });
  mkdirSync(`${folder}/made`);
}

/** The first message of protocol 3.0: length, version, user, database. */
function startup() {
  const parameters = `user\0${NAME}\0database\0${NAME}\0\0`;
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + parameters.length, 0);
  head.writeInt32BE(3 << 16, 4);
  return Buffer.concat([head, Buffer.from(parameters)]);
}

/**
 * A server that still starts or recovers answers with an error instead.
 * @param {Buffer} heard
 */
function asksForPassword(heard) {
  return heard.length >= 1 && heard.toString('latin1', 0, 1) === 'R';
}

/** @param {string} program */
function found(program) {
  return /** @type {string} */ (find(program));
}

/**
 * Debian keeps the programs of each version apart, out of PATH; the newest is taken.
 * @param {string} program
 */
function find(program) {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((one, other) => Number(other) - Number(one)) : [];
  return firstExecutable(versions.map((version) => `${VERSIONS}/${version}/bin/${program}`)) ?? findProgram(program);
}

/** @param {string} user */
function accountOf(user) {
  const id = (/** @type {'-u' | '-g'} */ which) => Number(execFileSync('id', [which, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
