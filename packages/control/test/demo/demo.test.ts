import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { lazaret, workshop } from '../command.ts';

const place = workshop();
afterAll(() => place.remove());

describe('lazaret demo', () => {
  it('tells its story, finds every message in exactly one place, and leaves nothing behind', async () => {
    const ended = await lazaret(['demo', '--headless'], place);
    expect(ended.stdout).toMatch(
      /every message that was sent is in exactly one place: (\d+) sent = \d+ done \+ 1 quarantined \+ 0 queued\n/,
    );
    expect(ended.stdout).toMatch(/All of it is as claimed\.\n$/);
    expect(ended).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^Next: lazaret demo --keep/) });
    expect(readdirSync(place.temporary)).toEqual([]);
  }, 60_000);

  it('keeps its database where that is asked for, plays faster, and is a document too', async () => {
    const ended = await lazaret(['demo', '--speed', '10', '--keep'], place);
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(ended.stdout).toMatch(/^Lazaret demo: .* 10 times as fast\n/);
    const db = /--db (\S+)/.exec(ended.stderr)?.[1] ?? '';
    expect(existsSync(db)).toBe(true);
    const kept = await lazaret(['messages', 'ls', '--json', '--db', db], place);
    expect(JSON.parse(kept.stdout)).toMatchObject({ messages: [{ message: 'order-broken', reason: 'undecodable' }] });
    rmSync(dirname(db), { recursive: true });
  }, 60_000);

  it('is one JSON document where that is asked for', async () => {
    const { stdout, exitCode } = await lazaret(['demo', '--headless', '--json', '--speed', '8'], place);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'lazaret/demo@1',
      ok: true,
      account: { missing: [], twice: [], queued: 0 },
    });
  }, 60_000);
});
