/** What somebody threw, as an Error; what it was is not looked into here. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`something that is no error was thrown: ${typeof thrown}`);
}
