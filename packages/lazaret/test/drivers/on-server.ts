import { describe, expect, it } from 'vitest';

/**
 * Registers `tests` with the address of a server. Where it is missing they are skipped, and say why; where everything has to be shown
 * (`CI=true`) they fail.
 */
export async function onServer(title: string, variable: string, tests: (address: string) => unknown): Promise<void> {
  const address = process.env[variable] || undefined;
  const reason = `no server: ${variable} is not set`;
  if (address !== undefined) await tests(address);
  else if (process.env.CI === 'true') it(title, () => expect.fail(reason));
  else {
    console.info(`Skipped: ${title} (${reason})`);
    describe.skip(`${title} (${reason})`, () => it('is skipped', () => undefined));
  }
}
