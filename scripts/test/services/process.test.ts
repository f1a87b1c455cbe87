import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  familyOf,
  formatRecord,
  isAlive,
  parseRecord,
  parseStat,
  recall,
  remember,
} from '../../services.d/process.mjs';
import type { Place } from '../../services.d/server.mjs';

describe('the line that the kernel has on a process', () => {
  const line = (name: string, state: string, threads: number) =>
    `77 (${name}) ${state} 41 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 ${threads} 0 987 10485760 1\n`;

  it.each([
    ['plain', line('redis-server', 'S', 4), false],
    ['with a name full of traps', line('a) Z 1 (b)', 'R', 1), false],
    ['of one that died unburied', line('nats-server', 'Z', 1), true],
    ['of one that died and lost its threads', line('nats-server', 'Z', 0), true],
    ['of one whose threads still let go of what they hold', line('java', 'Z', 9), false],
  ])('is read: %s', (_, text, dead) => {
    expect(parseStat(text)).toEqual({ parent: 41, startTick: 987, dead });
  });
});

describe('a record', () => {
  it('survives being written and read', () => {
    const known = { pid: 77, birth: 'boot:987' };
    expect(parseRecord(formatRecord(known))).toEqual(known);
  });

  it.each([[''], ['77'], ['77 boot:987'], ['0 boot:987\n'], ['-1 boot:987\n'], ['1e3 boot:987\n'], ['77 boot:987\n8']])(
    'is refused when it is not whole: %j',
    (text) => {
      expect(parseRecord(text)).toBeUndefined();
    },
  );
});

describe.runIf(process.platform === 'linux')('a process that was started here', () => {
  let place: Place;

  beforeEach(() => {
    place = { folder: mkdtempSync(`${tmpdir()}/lazaret-process-`), ports: [1] };
  });

  afterEach(() => rmSync(place.folder, { recursive: true }));

  it('is recalled while it lives, and not after', async () => {
    const child = spawn('sleep', ['60']);
    const ended = once(child, 'close');
    const known = remember(place, child.pid!);
    expect(recall(place)).toEqual(known);
    child.kill();
    await ended;
    expect(recall(place)).toBeUndefined();
  });

  it('is not mistaken for a stranger who got its number', () => {
    const known = remember(place, process.pid);
    expect(isAlive(known)).toBe(true);
    const record = readFileSync(`${place.folder}/pid`, 'utf8');
    writeFileSync(`${place.folder}/pid`, record.replace(/\d+\n$/, '1\n'));
    expect(recall(place)).toBeUndefined();
  });

  it('has a family that is found to the last grandchild, parents first', async () => {
    const child = spawn('sh', ['-c', 'sh -c "cat; :"; :'], { stdio: ['pipe', 'pipe', 'ignore'] });
    child.stdin.write('grown');
    await once(child.stdout, 'data');
    const family = familyOf(remember(place, child.pid!));
    expect(family).toHaveLength(3);
    expect(family[0]!.pid).toBe(child.pid);
    expect(family.every(isAlive)).toBe(true);
    for (const { pid } of family) process.kill(pid, 'SIGKILL');
    await once(child, 'close');
  });
});
