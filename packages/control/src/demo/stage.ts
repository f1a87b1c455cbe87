/** Who tells the story. Texts may hold what messages said; the stage makes them safe. */
export interface Stage {
  title(text: string): void;
  scene(title: string): void;
  say(sentence: string): void;
  /** Numbers that go on changing; each one takes the place of the one before. */
  status(text: string): void;
  /** What was claimed, and whether it is true. */
  check(claim: Claim): void;
}

export interface Claim {
  readonly claim: string;
  readonly holds: boolean;
  /** What was seen. */
  readonly seen: string;
}
