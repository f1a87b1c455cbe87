import { LazaretError } from '../../core/errors.ts';
import type { Client } from './client.ts';

/** n.b. the names stand in variables, so that neither compilers nor bundlers ask for the packages. */
const TRANSPORT = '@nats-io/transport-node';
const JETSTREAM = '@nats-io/jetstream';

/** The client, when it is there; LZ1101 with the line that installs it otherwise. */
export async function loadClient(load: (name: string) => Promise<unknown> = (name) => import(name)): Promise<Client> {
  try {
    const { connect } = (await load(TRANSPORT)) as Pick<Client, 'connect'>;
    const { jetstreamManager } = (await load(JETSTREAM)) as Pick<Client, 'jetstreamManager'>;
    return { connect, jetstreamManager };
  } catch (cause) {
    const hint = `Run: npm install ${TRANSPORT}@3.4 ${JETSTREAM}@3.4`;
    throw new LazaretError('LZ1101', `The NATS driver needs '${TRANSPORT}' and '${JETSTREAM}', which do not load.`, {
      hint,
      cause,
    });
  }
}
