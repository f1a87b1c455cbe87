import type { ExitCode } from './exit-code.ts';

/** How the output of one command looks. Pure; texts are given as they are, and made safe where they are written. */
export interface View<Output = never> {
  /** What its JSON document is, with its version: 'queues@1'. Only ever added to within a version. */
  readonly document: string;
  show(output: Output, sight: Sight): Shown;
  /** 0 where it says nothing. */
  exitCode?(output: Output): ExitCode;
  /** What `--raw` writes, for outputs that carry bytes. */
  raw?(output: Output): Uint8Array;
}

/** From where one looks. */
export interface Sight {
  /** Epoch milliseconds, for ages. */
  readonly now: number;
}

export interface Shown {
  /** Data. */
  readonly parts: readonly Part[];
  /** About the data, for people: why there is none, what is missing, what follows from it. */
  readonly notes?: readonly string[];
  /** The next useful command, word by word. */
  readonly next?: readonly string[];
}

export type Part =
  | { readonly kind: 'table'; readonly columns: readonly Column[]; readonly rows: readonly (readonly Cell[])[] }
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [name: string, value: Cell])[] }
  /** Text of several lines. One with a name holds what others wrote, and is indented, so that it cannot pass for ours. */
  | { readonly kind: 'block'; readonly name?: string; readonly note?: string; readonly text: Cell };

export interface Column {
  readonly title: string;
  readonly align?: 'right';
  readonly style?: Style;
  /** Takes the width that is left; what is longer is cut. At most one of a table, the last. */
  readonly wide?: true;
}

export type Style = 'strong' | 'faint' | 'bad' | 'good';

/** What people read, and where that is not the whole of it, what a program reads. */
export type Cell = string | number | { readonly people: string; readonly exact: string };

/** For a value that is not known. */
export const UNKNOWN: Cell = { people: '?', exact: '' };

export function forPeople(cell: Cell): string {
  return typeof cell === 'object' ? cell.people : String(cell);
}

export function exactly(cell: Cell): string {
  return typeof cell === 'object' ? cell.exact : String(cell);
}
