/** What servers of one version do otherwise than others. Measured on 3.10, 4.0 and 4.3; nothing of it can be asked for by trying, since all of them accept what they do not know. */
export interface Habits {
  readonly version: string;
  /** Giving back with `nack` does not count as a delivery that failed (from 4.3). */
  readonly requeueIsFree: boolean;
}

export function habitsOf(serverProperties: Readonly<Record<string, unknown>>): Habits {
  const version = textOf(serverProperties.version);
  return { version, requeueIsFree: isAtLeast(version, 4, 3) };
}

/** A version that cannot be read is taken for an old one. */
function isAtLeast(version: string, major: number, minor: number): boolean {
  const parts = /^(\d+)\.(\d+)/.exec(version);
  if (parts === null) return false;
  const [, first, second] = parts.map(Number) as [number, number, number];
  return first > major || (first === major && second >= minor);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value instanceof Uint8Array ? Buffer.from(value).toString() : '';
}
