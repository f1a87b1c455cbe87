/** Any thrown value, made safe to show, log and store: bounded in size, no getters left, nothing that can throw. */
export interface NormalError {
  /** Class or type name, at most 256 characters. */
  readonly name: string;
  /** At most 8 KiB of UTF-16 units. */
  readonly message: string;
  /** At most 32 KiB; absent where the value has none. */
  readonly stack?: string;
  /** `code` of the error (errno, SQLSTATE, AWS or gRPC name), as text. */
  readonly code?: string;
  /** HTTP-like status, where one is carried. */
  readonly status?: number;
  /** The cause chain below this error, nearest first, at most 8; each without its own causes. */
  readonly causes: readonly NormalError[];
}
