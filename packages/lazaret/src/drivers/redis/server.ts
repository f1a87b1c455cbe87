import { LazaretError } from '../../core/errors.ts';
import { explained } from './errors.ts';
import { type Link, textOf } from './link.ts';

/** What the driver found out about its server. */
export interface ServerDescription {
  readonly version: string;
  /** What of it survives a crash of the server. 'unknown' where it may not be asked. */
  readonly persistence: 'append-only, always' | 'append-only' | 'snapshots' | 'none' | 'unknown';
  readonly evictionPolicy: string;
  /** What can get lost, in a sentence each. */
  readonly warnings: readonly string[];
}

/** Streams with groups came with 5, and what the scripts use of them with 6.2. */
const OLDEST: readonly [major: number, minor: number] = [6, 2];

/** Rejects with LZ1132 for a server that is too old or none of its kind. */
export async function lookAtServer(link: Link): Promise<ServerDescription> {
  let info: string;
  try {
    info = textOf(await link.ask('INFO'));
  } catch (error) {
    throw explained(error, link.place);
  }
  const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? '';
  checkVersion(version, link.place);
  const evictionPolicy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'unknown';
  const persistence = await persistenceOf(link, info);
  return { version, persistence, evictionPolicy, warnings: warningsOf(persistence, evictionPolicy) };
}

function checkVersion(version: string, place: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new LazaretError('LZ1132', `Redis at ${place} is too old (${version.slice(0, 20) || 'no version'}).`, {
    hint: `The driver needs version ${OLDEST.join('.')} or newer.`,
  });
}

async function persistenceOf(link: Link, info: string): Promise<ServerDescription['persistence']> {
  if (/^aof_enabled:1/m.test(info)) {
    const fsync = await setting(link, 'appendfsync');
    return fsync === 'always' ? 'append-only, always' : 'append-only';
  }
  const save = await setting(link, 'save');
  if (save === undefined) return 'unknown';
  return save === '' ? 'none' : 'snapshots';
}

/** `undefined` where it may not be asked, as in many clouds. */
async function setting(link: Link, name: string): Promise<string | undefined> {
  try {
    const [, value] = (await link.ask('CONFIG', 'GET', name)) as Uint8Array[];
    return value === undefined ? undefined : textOf(value);
  } catch {
    return undefined;
  }
}

function warningsOf(persistence: ServerDescription['persistence'], evictionPolicy: string): readonly string[] {
  const warnings: string[] = [];
  if (persistence === 'append-only')
    warnings.push('A crash of the server can lose the last second of what it confirmed.');
  if (persistence === 'snapshots') warnings.push('A crash of the server loses all since its last snapshot.');
  if (persistence === 'none') warnings.push('A crash of the server loses everything.');
  if (persistence === 'unknown') warnings.push('The server does not say what it keeps when it crashes.');
  if (evictionPolicy !== 'noeviction' && evictionPolicy !== 'unknown') {
    warnings.push(
      `When its memory is full, the server may throw whole queues away (maxmemory-policy ${evictionPolicy}).`,
    );
  }
  return warnings;
}
