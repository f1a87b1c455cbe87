import { createHash } from 'node:crypto';
import type { Line } from './lines.ts';

/** How the lines of one input are called: 'orders.ndjson:17' is the seventeenth. The same line has the same name in every run. */
export interface LineNames {
  idOf(line: Line): string;
  /** The number of the line whose id this is; `undefined` for a message that came from elsewhere. */
  numberOf(id: string | undefined): number | undefined;
  /**
   * Name and content: a line that was sent before is known again, also when lines were added behind it. One that was corrected
   * is another line.
   */
  dedupeIdOf(line: Line): string;
}

const DIGEST_CHARACTERS = 22;

export function lineNames(input: string): LineNames {
  const prefix = `${input}:`;
  const idOf = ({ number }: Line) => `${prefix}${number}`;
  return {
    idOf,
    numberOf(id) {
      if (id === undefined || !id.startsWith(prefix)) return undefined;
      const digits = id.slice(prefix.length);
      return /^[1-9][0-9]{0,14}$/.test(digits) ? Number(digits) : undefined;
    },
    dedupeIdOf(line) {
      const digest = createHash('sha256').update(line.bytes).digest('base64url');
      return `${idOf(line)}:${digest.slice(0, DIGEST_CHARACTERS)}`;
    },
  };
}
