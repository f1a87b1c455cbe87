import { existsSync, readdirSync } from 'node:fs';
import { ensureRoot, folderOf } from '../install/debian-root.mjs';
import { environment, logsIn, rabbitmq, START, writeConfiguration } from './rabbitmq.mjs';

// Where the server finds its folder, seen from inside.
const INSIDE = '/srv';

/** The newest that Debian has: from unstable, or from 13 when unstable has moved on to a 5. */
const ROOT = {
  name: 'rabbitmq-4',
  package: 'rabbitmq-server',
  suites: ['sid', 'trixie'],
  isWanted: (/** @type {string} */ folder) => {
    const versions = `${folder}/usr/lib/rabbitmq/lib`;
    return existsSync(versions) && readdirSync(versions).some((name) => name.startsWith('rabbitmq_server-4.'));
  },
};

/** @type {import('../server.mjs').Server} */
export const rabbitmq4 = {
  name: 'rabbitmq-4',
  variable: 'LAZARET_RABBITMQ4_URL',
  ports: [21730, 21731, 21732],
  install: () => ensureRoot(ROOT),
  async prepare(place) {
    writeConfiguration(place);
    const [program, ...args] = ['unshare', '--mount', 'sh', '-c', ENTER, folderOf(ROOT.name), place.folder];
    return { program, args, env: environment(INSIDE, place) };
  },
  answers: logsIn,
  address: rabbitmq.address,
};

/** The mounts are seen by this server alone, and end with it. */
const ENTER = `
  mount -t proc proc "$0/proc" &&
  mount --bind "$1" "$0${INSIDE}" &&
  exec chroot "$0" sh -c '${START}'
`;
