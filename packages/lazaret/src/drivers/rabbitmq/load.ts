import { LazaretError } from '../../core/errors.ts';
import type { Amqplib } from './amqplib.ts';

/** n.b. the name stands in a variable, so that neither compilers nor bundlers ask for the package. */
const PACKAGE = 'amqplib';

/** The client, when it is there; LZ1101 with the line that installs it otherwise. */
export async function loadAmqplib(load: (name: string) => Promise<unknown> = (name) => import(name)): Promise<Amqplib> {
  try {
    const module = (await load(PACKAGE)) as Amqplib & { readonly default?: Amqplib };
    return module.default ?? module;
  } catch (cause) {
    throw new LazaretError('LZ1101', `The RabbitMQ driver needs the package '${PACKAGE}', which does not load.`, {
      hint: `Run: npm install ${PACKAGE}@2.3`,
      cause,
    });
  }
}
