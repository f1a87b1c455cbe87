import { availableParallelism } from 'node:os';
import { readCommand, USAGE } from './command.mjs';
import { down, kill, restart, status, up } from './life.mjs';
import { SERVERS } from './servers/index.mjs';

const wish = readCommand(
  process.argv.slice(2),
  SERVERS.map((server) => server.name),
);

switch (wish.verb) {
  case 'help':
    console.log(USAGE);
    break;
  case 'wrong':
    console.error(`services: ${wish.why}\n\n${USAGE}`);
    process.exitCode = 2;
    break;
  default: {
    if (process.platform !== 'linux') throw new Error('this needs Linux; elsewhere use deploy/compose.yaml');
    const act = { up, down, status, kill, restart }[wish.verb];
    const servers = SERVERS.filter((server) => wish.names.includes(server.name));
    await eachAtMost(availableParallelism(), servers, (server) => act(server).catch((error) => report(server, error)));
  }
}

/**
 * One server's failure leaves the others to go on.
 * @param {import('./server.mjs').Server} server
 * @param {unknown} error
 */
function report(server, error) {
  console.error(`${server.name}: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

/**
 * @template Item
 * @param {number} limit
 * @param {readonly Item[]} items
 * @param {(item: Item) => Promise<void>} action
 */
async function eachAtMost(limit, items, action) {
  const waiting = [...items];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await action(item);
  };
  await Promise.all(Array.from({ length: limit }, lane));
}
