import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can be cut, and closed for good, as the network between two machines can. */
export interface Detour {
  readonly port: number;
  /** Ends every connection without a word. New ones are taken. */
  cut(): void;
  /** Ends every connection and takes no more. */
  block(): Promise<void>;
  /** Nothing that the server says reaches the client from now on. */
  deafen(isDeaf: boolean): void;
}

export async function detourTo(url: string): Promise<Detour> {
  const { hostname, port } = new URL(url);
  const pairs = new Set<readonly [Socket, Socket]>();
  let isDeaf = false;
  const server: Server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: hostname, port: Number(port), noDelay: true });
    const pair = [near, far] as const;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    near.on('data', (bytes: Buffer) => far.write(bytes));
    far.on('data', (bytes: Buffer) => {
      if (!isDeaf) near.write(bytes);
    });
    for (const socket of pair) {
      socket.on('error', end);
      socket.on('close', end);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const cut = () => {
    for (const [near, far] of [...pairs]) {
      near.destroy();
      far.destroy();
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    async block() {
      server.close();
      cut();
    },
    deafen: (isNow) => {
      isDeaf = isNow;
    },
  };
}

/** `url` by way of `detour`. */
export function through(detour: Detour, url: string): string {
  const way = new URL(url);
  way.hostname = '127.0.0.1';
  way.port = String(detour.port);
  return way.toString();
}
