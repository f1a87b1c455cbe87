import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { onNats, streamsOf } from './nats/server.ts';

const EXAMPLE = fileURLToPath(new URL('../../../../examples/nats.mjs', import.meta.url));

await onNats('the example', (server) =>
  describe('examples/nats.mjs', () => {
    const streams = streamsOf('example_orders');
    afterAll(async () => {
      await server.deleteStreams(streams);
      await server.end();
    });

    it('does what it says, and ends by itself', async () => {
      await server.deleteStreams(streams);
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [EXAMPLE, server.url]);
      expect(stdout.trimEnd().split('\n').sort()).toEqual([
        'charged ada for o-1 (evt-1)',
        'charged bob for o-2 (evt-2)',
        expect.stringMatching(/^evt-2 again in (1[6-9]|2[0-4])\d ms: Error: payments: connection refused$/),
        'evt-3 quarantined (poison): Poison: customer is empty',
      ]);
      expect(stderr).toBe('');
    });
  }),
);
