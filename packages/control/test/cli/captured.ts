import type { Sink } from '../../src/cli/sink.ts';
import type { Terminal } from '../../src/cli/terminal.ts';

export const PIPE: Terminal = { interactive: false, colours: false, unicode: true, columns: 80 };
export const TERMINAL: Terminal = { interactive: true, colours: false, unicode: true, columns: 100 };

/** A sink that remembers what it got. */
export function captured(terminal: Terminal = PIPE): { readonly sink: Sink; text(): string; bytes(): Buffer } {
  const chunks: Buffer[] = [];
  return {
    sink: { terminal, write: (text) => void chunks.push(Buffer.from(text)) },
    text: () => Buffer.concat(chunks).toString('utf8'),
    bytes: () => Buffer.concat(chunks),
  };
}
