import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { listenersIn, listens } from '../../services.d/listener.mjs';

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:54C4 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000 100 0 0 10 0
   1: 0100007F:54C4 0100007F:9000 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0000 100 0 0 10 0
   2: 0100007F:54C5 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000 100 0 0 10 0
`;

it.each([
  [21700, ['4711']],
  [21701, ['4713']],
  [21702, []],
])('finds who listens on port %i, and nobody who is merely connected', (port, inodes) => {
  expect(listenersIn(TABLE, port)).toEqual(inodes);
});

it.runIf(process.platform === 'linux')('tells a port of our own from that of a stranger', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(listens([{ pid: process.pid, birth: '' }], port)).toBe(true);
  expect(listens([{ pid: process.ppid, birth: '' }], port)).toBe(false);
  server.close();
});
