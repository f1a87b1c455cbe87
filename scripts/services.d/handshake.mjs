// Small talk in a server's own protocol, to learn whether it is ready to serve.
import { once } from 'node:events';
import { connect } from 'node:net';

const LIMIT_MS = 2000;

/**
 * Says one thing, and hears until `enough` is content. Throws when the other side hangs up or takes longer than 2 s.
 * @param {number} port   on this machine
 * @param {string | Buffer} said
 * @param {(heard: Buffer) => boolean} enough
 * @returns {Promise<boolean>}
 */
export async function ask(port, said, enough) {
  return converse(port, [[said, enough]]);
}

/**
 * The same in turns: each thing is said when the one before has its answer.
 * @param {number} port
 * @param {readonly (readonly [said: string | Buffer, enough: (heard: Buffer) => boolean])[]} turns
 * @returns {Promise<boolean>}
 */
export async function converse(port, turns) {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const socket = connect({ port, host: '127.0.0.1', signal });
  try {
    await once(socket, 'connect', { signal });
    for (const [said, enough] of turns) {
      socket.write(said);
      let heard = Buffer.alloc(0);
      while (!enough(heard)) {
        const [chunk] = await Promise.race([once(socket, 'data', { signal }), once(socket, 'end', { signal })]);
        if (chunk === undefined) return false;
        heard = Buffer.concat([heard, chunk]);
      }
    }
    return true;
  } finally {
    socket.destroy();
  }
}
