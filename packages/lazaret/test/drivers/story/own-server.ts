import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SERVICES = fileURLToPath(new URL('../../../../../scripts/services', import.meta.url));

/** A server of the kind `name` that belongs to one test: it may be killed without harm to others. */
export class OwnServer {
  readonly #name: string;
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'lazaret-own-'));
  readonly url: string;

  /** Starts one. */
  static async start(name: string): Promise<OwnServer> {
    const server = new OwnServer(name);
    (server as { url: string }).url = (await server.#services('up')).split('=').slice(1).join('=').trim();
    return server;
  }

  private constructor(name: string) {
    this.#name = name;
    // n.b. some servers run as a user of their own.
    chmodSync(this.#folder, 0o755);
    this.url = '';
  }

  /** With SIGKILL, and up again when its protocol answers. */
  async crash(): Promise<void> {
    await this.#services('kill');
    await this.#services('up');
  }

  async end(): Promise<void> {
    await this.#services('down');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #services(command: string): Promise<string> {
    const env = { ...process.env, LAZARET_SERVICES: this.#folder };
    return (await promisify(execFile)(SERVICES, [command, this.#name], { env, timeout: 120_000 })).stdout;
  }
}
