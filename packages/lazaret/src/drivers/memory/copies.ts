import type { Client } from './client.ts';
import { exchange } from './exchange.ts';
import type { World } from './shape.ts';

/**
 * Writes a copy of ours and waits until it is confirmed. A confirm that was lost leaves no choice but to send it again:
 * the two carry one id.
 */
export async function sendCopy(world: World, client: Client, write: () => void): Promise<'done' | Error> {
  for (;;) {
    const [answer] = await exchange(world, client, 'copy', [undefined], () => {
      write();
      return 'done' as const;
    });
    if (answer === 'done' || answer instanceof Error) return answer;
    if (answer !== 'no answer') return new Error(`the copy was ${answer}`);
  }
}
