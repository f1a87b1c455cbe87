import type { JsonSchema } from '../operations/operation.ts';
import type { ExitCode } from './exit-code.ts';

/** One command as the command line needs it: an operation, or one of the few commands that are none. */
export interface CommandSpec {
  /** Noun and verb, or a word alone. */
  readonly name: string;
  readonly summary: string;
  /** The property of `input` that is the argument. */
  readonly subject?: string;
  readonly input: JsonSchema;
  /** Under the flags in its help. */
  readonly help?: string;
  /** Flags without a value that belong to this face alone: name and description. */
  readonly switches?: Readonly<Record<string, string>>;
  /** `input` fits its schema. Throws what is to be complained about. */
  act(input: object, globals: Globals): Promise<ExitCode>;
}

/** What every command understands. */
export interface Globals {
  /** Absent where it was not named: then each command knows its own default. */
  readonly db?: string;
  readonly json: boolean;
  /** Those of `switches` that were given. */
  readonly switches: ReadonlySet<string>;
}
