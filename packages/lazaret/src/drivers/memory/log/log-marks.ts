/** What a group remembers of one record above its watermark. */
export interface Mark {
  readonly isDone: boolean;
  /** Who began it, while it has no outcome. */
  readonly openBy: string | undefined;
  /** Starts whose owner vanished. */
  readonly crashes: number;
  /** Failures that were charged while it was held. */
  readonly charged: number;
  /** Released until then. */
  readonly dueAt: number | undefined;
  readonly notBefore: number | undefined;
}

export const UNMARKED: Mark = {
  isDone: false,
  openBy: undefined,
  crashes: 0,
  charged: 0,
  dueAt: undefined,
  notBefore: undefined,
};

/** What one commit carries for a partition: everything below the watermark is done, and marks say the rest. */
export interface Committed {
  readonly watermark: number;
  readonly marks: ReadonlyMap<number, Mark>;
}

export const NOTHING_COMMITTED: Committed = { watermark: 0, marks: new Map() };

export function isDone({ watermark, marks }: Committed, offset: number): boolean {
  return offset < watermark || marks.get(offset)?.isDone === true;
}

/**
 * The marks as whoever takes over reads them: what somebody else left open is a start whose owner vanished. What oneself left
 * open was lost while its owner lived, so it ends as a release.
 */
export function takeOver({ marks }: Committed, self: string): Map<number, Mark> {
  const taken = new Map<number, Mark>();
  for (const [offset, mark] of marks) {
    const { openBy, crashes } = mark;
    const isCrash = openBy !== undefined && openBy !== self;
    taken.set(offset, { ...mark, openBy: undefined, crashes: isCrash ? crashes + 1 : crashes });
  }
  return taken;
}
