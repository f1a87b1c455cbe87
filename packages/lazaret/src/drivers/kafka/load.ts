import { LazaretError } from '../../core/errors.ts';
import type { Confluent } from './confluent-types.ts';

/** n.b. the name stands in a variable, so that neither compilers nor bundlers ask for the package. */
const PACKAGE = '@confluentinc/kafka-javascript';

/** The client, when it is there; LZ1101 with the line that installs it otherwise. */
export async function loadConfluent(
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<Confluent> {
  try {
    const module = (await load(PACKAGE)) as Confluent & { readonly default?: Confluent };
    return module.default ?? module;
  } catch (cause) {
    throw new LazaretError('LZ1101', `The Kafka driver needs the package '${PACKAGE}', which does not load.`, {
      hint: `Run: npm install ${PACKAGE}@1.10`,
      cause,
    });
  }
}
