const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
];

/** How long ago, in at most two units: '41s', '14m', '2d3h'. 'now' within a second, and for what clocks put into the future. */
export function age(at: number, now: number): string {
  return now - at < 1_000 ? 'now' : lasting(now - at);
}

/** How long, in at most two units: '41s', '14m', '2d3h'; '0s' for less than a second. */
export function lasting(ms: number): string {
  const first = UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  if (first < 0) return '0s';
  const [unit, unitMs] = UNITS[first]!;
  const amount = Math.floor(ms / unitMs);
  const [smallUnit, smallMs] = UNITS[first + 1] ?? ['', unitMs];
  const rest = amount < 10 && unitMs > 60_000 ? Math.floor((ms % unitMs) / smallMs) : 0;
  return rest === 0 ? `${amount}${unit}` : `${amount}${unit}${rest}${smallUnit}`;
}
