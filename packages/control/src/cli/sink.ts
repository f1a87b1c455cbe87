import type { Terminal } from './terminal.ts';

/** Where a command writes: stdout for data, stderr for everything said about it. */
export interface Sink {
  readonly terminal: Terminal;
  /** Text that is safe for a terminal already, or bytes as they are. */
  write(text: string | Uint8Array): void;
}

export interface Output {
  readonly stdout: Sink;
  readonly stderr: Sink;
}
