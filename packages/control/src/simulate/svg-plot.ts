import { escaped } from './escaped.ts';

// Places along the time axis are percentages, so that a plot is as wide as its page and its texts keep their size.

export interface Line {
  readonly name: string;
  /** Which of the page's line styles. */
  readonly style: number;
  readonly low: readonly number[];
  readonly median: readonly number[];
  readonly high: readonly number[];
}

export interface Plot {
  readonly title: string;
  readonly unit: string;
  readonly scale: 'linear' | 'log';
  readonly stepMs: number;
  readonly lines: readonly Line[];
  readonly trouble: Period;
}

/** From and until, in milliseconds since the beginning. */
export type Period = readonly [from: number, until: number];

const HEIGHT = 220;
const BOTTOM = 20;
const TOP = 18;
const PLOT = HEIGHT - BOTTOM;
/** Units of the drawing from left to right; it is stretched to the page. */
const WIDTH = 1_000;
/** More points than pixels draw nothing new. */
const MOST_POINTS = 400;
const MINUTE_MS = 60_000;
/** Beyond this share of the axis a text would be cut, also on a small screen. */
const LAST_LABEL = 0.96;

/** Lines over time with their bands. */
export function plot({ title, unit, scale, stepMs, lines, trouble }: Plot): string {
  const steps = Math.max(...lines.map(({ median }) => median.length));
  const endMs = stepMs * steps;
  const top = niceTop(Math.max(1, ...lines.flatMap(({ high }) => high)), scale);
  const y = (value: number) => tidy(PLOT - (PLOT - TOP) * share(value, top, scale));
  const every = Math.max(1, Math.ceil(steps / MOST_POINTS));
  const points = (values: readonly number[]) =>
    values.flatMap((value, at) => (at % every === 0 ? [`${tidy((WIDTH * (at + 1)) / steps)} ${y(value)}`] : []));
  const drawn = lines.map(({ name, style, low, median, high }) => {
    const band = [...points(high), ...points(low).reverse()].join('L');
    return (
      `<g class="s${style}"><title>${escaped(name)}</title><path class="band" d="M${band}Z"/>` +
      `<path class="line" d="M${points(median).join('L')}"/></g>`
    );
  });
  const most = lines.map(({ name, median }) => `${name} at most ${short(Math.max(...median))}`).join('; ');
  return (
    `<svg class="plot" height="${HEIGHT}" role="img"><title>${escaped(title)}</title>` +
    `<desc>${escaped(`${title}, ${unit}. Medians: ${most}.`)}</desc>${troubleArea(trouble, endMs, PLOT)}` +
    ticks(top, scale)
      .map((value) => `<line class="grid" x1="0" x2="100%" y1="${y(value)}" y2="${y(value)}"/>`)
      .join('') +
    `<svg width="100%" height="${PLOT}" viewBox="0 0 ${WIDTH} ${PLOT}" preserveAspectRatio="none">${drawn.join('')}</svg>` +
    ticks(top, scale)
      .map((value) => `<text x="2" y="${y(value) - 3}">${short(value)}</text>`)
      .join('') +
    `${minutes(endMs)}</svg>`
  );
}

export interface Strip {
  readonly name: string;
  readonly stepMs: number;
  readonly states: readonly string[];
  /** How high each state stands, between 0 and 1: it is seen without colours too. */
  readonly heights: Readonly<Record<string, number>>;
  readonly trouble: Period;
}

const STRIP = 28;

/** A state over time, as stretches of colour and height. */
export function stateStrip({ name, stepMs, states, heights, trouble }: Strip): string {
  const endMs = stepMs * states.length;
  const rects = stretchesOf(states).map(({ state, from, until }) => {
    const height = tidy(STRIP * (heights[state] ?? 1));
    return (
      `<rect class="${escaped(state)}" x="${percent(from / states.length)}" y="${tidy(STRIP - height)}" ` +
      `width="${percent((until - from) / states.length)}" height="${height}"><title>${escaped(state)}</title></rect>`
    );
  });
  const times = [...new Set(states)].map((state) => {
    const steps = states.filter((one) => one === state).length;
    return `${state} for ${Math.round((steps * stepMs) / 1000)} s`;
  });
  return (
    `<svg class="strip" height="${STRIP + BOTTOM}" role="img"><title>${escaped(`Breaker of ${name}`)}</title>` +
    `<desc>${escaped(`${times.join('; ')}.`)}</desc>${troubleArea(trouble, endMs, STRIP)}${rects.join('')}` +
    `<svg y="${STRIP - PLOT}" height="${HEIGHT}" width="100%">${minutes(endMs)}</svg></svg>`
  );
}

function stretchesOf(states: readonly string[]): readonly { state: string; from: number; until: number }[] {
  const stretches: { state: string; from: number; until: number }[] = [];
  for (const [at, state] of states.entries()) {
    const last = stretches.at(-1);
    if (last?.state === state) last.until = at + 1;
    else stretches.push({ state, from: at, until: at + 1 });
  }
  return stretches;
}

function troubleArea([from, until]: Period, endMs: number, height: number): string {
  return (
    `<rect class="trouble" x="${percent(from / endMs)}" y="0" width="${percent((until - from) / endMs)}" height="${height}">` +
    '<title>the trouble</title></rect>'
  );
}

function minutes(endMs: number): string {
  const every = endMs > 20 * MINUTE_MS ? 10 : 2;
  const last = Math.floor((endMs * LAST_LABEL) / MINUTE_MS / every);
  return Array.from({ length: last }, (_, at) => (at + 1) * every)
    .map((minute) => {
      const x = percent((minute * MINUTE_MS) / endMs);
      return `<text x="${x}" y="${HEIGHT - 4}" text-anchor="middle">${minute} min</text>`;
    })
    .join('');
}

function share(value: number, top: number, scale: Plot['scale']): number {
  return scale === 'linear' ? value / top : Math.log10(1 + value) / Math.log10(1 + top);
}

function niceTop(most: number, scale: Plot['scale']): number {
  const power = 10 ** Math.floor(Math.log10(most));
  const factors = scale === 'log' ? [10] : [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
  return power * factors.find((factor) => factor * power >= most)!;
}

function ticks(top: number, scale: Plot['scale']): readonly number[] {
  if (scale === 'linear') return [0, top / 2, top];
  return [0, ...Array.from({ length: Math.round(Math.log10(top)) }, (_, power) => 10 ** (power + 1))];
}

/** A number for an axis or a table: three digits that count, thousands as k. */
export function short(value: number): string {
  if (value >= 10_000) return `${tidy(value / 1_000)}k`;
  return String(value >= 100 ? Math.round(value) : Math.round(value * 10) / 10);
}

function percent(part: number): string {
  return `${Math.round(part * 100_000) / 1_000}%`;
}

function tidy(value: number): number {
  return Math.round(value * 10) / 10;
}
