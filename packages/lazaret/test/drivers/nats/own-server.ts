import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from './server.ts';

const FOLDERS = [...(process.env.PATH ?? '').split(':'), '/usr/local/sbin', '/usr/sbin'];

/** The server's program; it is there wherever the server was installed. */
function program(): string | undefined {
  return FOLDERS.map((folder) => join(folder, 'nats-server')).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A server of a test alone, which it may kill. */
export class OwnServer {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'lazaret-nats-'));
  readonly #arguments: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(port: number, flags: readonly string[]) {
    this.port = port;
    this.#arguments = ['-a', '127.0.0.1', '-p', String(port), ...flags];
  }

  static async start(flags: readonly string[] = []): Promise<OwnServer> {
    const server = new OwnServer(await freePort(), flags);
    await server.up();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async up(): Promise<void> {
    const storage = this.#arguments.includes('--no-js') ? [] : ['-js', '-sd', this.#folder];
    const flags = this.#arguments.filter((flag) => flag !== '--no-js');
    this.#process = spawn(program()!, [...flags, ...storage], { stdio: 'ignore' });
    while (!(await answers(this.port))) await sleep(20);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('data', () => end(true));
    socket.once('error', () => end(false));
  });
}
