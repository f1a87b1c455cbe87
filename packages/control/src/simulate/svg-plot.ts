import { escaped } from './escaped.ts';

export interface Line {
  readonly name: string;
  /** Which of the page's line styles. */
  readonly style: number;
  readonly low: readonly number[];
  readonly middle: readonly number[];
  readonly high: readonly number[];
}

export interface Plot {
  readonly title: string;
  readonly unit: string;
  readonly scale: 'linear' | 'log';
  readonly stepMs: number;
  readonly lines: readonly Line[];
  /** From and until, in ms. */
  readonly trouble: readonly [number, number];
}

const WIDTH = 900;
const HEIGHT = 240;
const LEFT = 56;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 24;
/** More points than pixels draw nothing new. */
const MOST_POINTS = 400;
const MINUTE_MS = 60_000;

/** Lines over time with their bands. */
export function plot({ title, unit, scale, stepMs, lines, trouble }: Plot): string {
  const endMs = stepMs * Math.max(...lines.map(({ middle }) => middle.length - 1));
  const top = niceTop(Math.max(1, ...lines.flatMap(({ high }) => high)), scale);
  const x = (ms: number) => LEFT + ((WIDTH - LEFT - RIGHT) * ms) / endMs;
  const y = (value: number) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share(value, top, scale);
  const every = Math.max(1, Math.ceil(lines[0]!.middle.length / MOST_POINTS));
  const points = (values: readonly number[]) =>
    values.flatMap((value, at) => (at % every === 0 ? [`${round(x(at * stepMs))} ${round(y(value))}`] : []));
  const drawn = lines.map(({ name, style, low, middle, high }) => {
    const band = [...points(high), ...points(low).toReversed()];
    return `<g class="s${style}"><title>${escaped(name)}</title><path class="band" d="M${band.join('L')}Z"/><path class="line" d="M${points(middle).join('L')}"/></g>`;
  });
  const described = `${title}, ${unit}: ${lines.map(({ name, middle }) => `${name} at most ${Math.round(Math.max(...middle))}`).join('; ')}.`;
  return (
    `<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img"><title>${escaped(title)}</title><desc>${escaped(described)}</desc>` +
    troubleArea(x, trouble, HEIGHT - BOTTOM) +
    ticks(top, scale)
      .map(
        (value) =>
          `<path class="grid" d="M${LEFT} ${round(y(value))}H${WIDTH - RIGHT}"/><text x="${LEFT - 6}" y="${round(y(value)) + 4}" text-anchor="end">${short(value)}</text>`,
      )
      .join('') +
    minutes(endMs)
      .map((ms) => `<text x="${round(x(ms))}" y="${HEIGHT - 6}" text-anchor="middle">${ms / MINUTE_MS} min</text>`)
      .join('') +
    `${drawn.join('')}</svg>`
  );
}

/** A state over time, as coloured stretches with their names. */
export function stateStrip({
  name,
  stepMs,
  states,
  trouble,
}: {
  name: string;
  stepMs: number;
  states: readonly string[];
  trouble: readonly [number, number];
}): string {
  const endMs = stepMs * (states.length - 1);
  const x = (ms: number) => LEFT + ((WIDTH - LEFT - RIGHT) * ms) / endMs;
  const stretches: { state: string; from: number; to: number }[] = [];
  states.forEach((state, at) => {
    const last = stretches.at(-1);
    if (last?.state === state) last.to = at + 1;
    else stretches.push({ state, from: at, to: at + 1 });
  });
  const rects = stretches.map(({ state, from, to }) => {
    const [left, right] = [x(from * stepMs), x(Math.min(to, states.length - 1) * stepMs)];
    const label =
      right - left > 60
        ? `<text x="${round((left + right) / 2)}" y="38" text-anchor="middle">${escaped(state)}</text>`
        : '';
    return `<rect class="${escaped(state)}" x="${round(left)}" y="4" width="${round(Math.max(1, right - left))}" height="18"><title>${escaped(state)}</title></rect>${label}`;
  });
  const count = new Set(states).size;
  return (
    `<svg class="strip" viewBox="0 0 ${WIDTH} 44" role="img"><title>${escaped(`Breaker of ${name}`)}</title><desc>${count} states</desc>` +
    `${troubleArea(x, trouble, 44)}${rects.join('')}</svg>`
  );
}

function troubleArea(x: (ms: number) => number, [from, until]: readonly [number, number], height: number): string {
  return `<rect class="trouble" x="${round(x(from))}" y="0" width="${round(x(until) - x(from))}" height="${height}"><title>trouble</title></rect>`;
}

function share(value: number, top: number, scale: Plot['scale']): number {
  return scale === 'linear' ? value / top : Math.log10(1 + value) / Math.log10(1 + top);
}

function niceTop(most: number, scale: Plot['scale']): number {
  const power = 10 ** Math.floor(Math.log10(most));
  if (scale === 'log') return power * 10;
  return power * ([1, 1.5, 2, 3, 5, 10].find((factor) => factor * power >= most) ?? 10);
}

function ticks(top: number, scale: Plot['scale']): readonly number[] {
  if (scale === 'linear') return [0, top / 2, top];
  const powers = Array.from({ length: Math.round(Math.log10(top)) + 1 }, (_, power) => 10 ** power);
  return [0, ...powers];
}

function minutes(endMs: number): readonly number[] {
  const everyMs = endMs > 20 * MINUTE_MS ? 10 * MINUTE_MS : endMs > 6 * MINUTE_MS ? 2 * MINUTE_MS : MINUTE_MS;
  return Array.from({ length: Math.floor(endMs / everyMs) + 1 }, (_, at) => at * everyMs);
}

function short(value: number): string {
  return value >= 1000 ? `${round(value / 1000)}k` : String(round(value));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
