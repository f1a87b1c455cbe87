const LATEST_MS = 8.64e15;

/** ISO 8601 in UTC with milliseconds. Clamped to what can be written: a time may come from a message. */
export function timeText(epochMs: number): string {
  const ms = Number.isFinite(epochMs) ? Math.min(Math.max(epochMs, -LATEST_MS), LATEST_MS) : 0;
  return new Date(ms).toISOString();
}
