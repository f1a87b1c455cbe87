import { formatDuration } from 'lazaret/core';
import type { SimulationRun } from 'lazaret/testing';
import { OURS, YOURS } from './arms.ts';
import { escaped } from './escaped.ts';
import { CALM_MS, CLIENT_TIMEOUT_MS, type Plan, SERVERS, SERVICE_MS } from './plan.ts';
import { STYLE } from './report-style.ts';
import { after, counted, eventOf, verdict } from './sentences.ts';
import { bandOf, type NumberRow, type Spread, type Summary } from './summary.ts';
import { type Line, type Period, plot, short, stateStrip } from './svg-plot.ts';

export interface Report {
  readonly plan: Plan;
  readonly premise: string;
  readonly headline: string;
  /** The command that made it. */
  readonly command: string;
  readonly arms: readonly Arm[];
  readonly findings: readonly { readonly finding: string; readonly why: string; readonly todo: string }[];
}

interface Arm {
  readonly summary: Summary;
  readonly runs: readonly SimulationRun[];
}

/** One file that stands alone: no script, nothing fetched. */
export function reportPage(report: Report): string {
  const { plan, premise, headline, command, arms, findings } = report;
  const title = `What ${eventOf(plan)} does to a queue`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p class="headline">${escaped(headline)}</p>
<p class="faint">${escaped(premise)}</p>
${overview(arms)}
<ul>${arms.map(({ summary }) => `<li>${escaped(verdict(summary))}</li>`).join('')}</ul>
${findings.length === 0 ? '' : advice(findings)}
<h2>Over time</h2>
<p>The shaded time is the trouble. Lines are medians of the seeds; a band reaches from their 5th to their 95th percentile.</p>
${PLOTS.map((one) => figure(report, one)).join('\n')}
${states(report)}
<h2>What this model is, and what it is not</h2>
${model(plan)}
<p class="faint">Made by <code>${escaped(command)}</code></p>
</main>
</body>
</html>
`;
}

interface Column {
  readonly title: string;
  of(summary: Summary): Spread;
  text(value: number | null): string;
}

const COLUMNS: readonly Column[] = [
  { title: 'calls in the trouble', of: ({ callsInTrouble }) => callsInTrouble, text: figureText },
  { title: 'done/s in it', of: ({ goodputInTrouble }) => goodputInTrouble, text: figureText },
  { title: 'done/s after it', of: ({ goodputAfter }) => goodputAfter, text: figureText },
  { title: '90 % again after', of: ({ recoveredAfterMs }) => recoveredAfterMs, text: after },
  { title: 'caught up after', of: ({ drainedAfterMs }) => drainedAfterMs, text: after },
  { title: 'healthy quarantined', of: ({ quarantined }) => quarantined, text: figureText },
  { title: 'calls per success', of: ({ callsPerSuccess }) => callsPerSuccess, text: figureText },
];

function figureText(value: number | null): string {
  return value === null ? '–' : counted(value);
}

function overview(arms: readonly Arm[]): string {
  const rows = arms.map(({ summary }) => ({
    name: summary.arm,
    own: isOwn(summary),
    cells: [String(summary.seeds), ...COLUMNS.map(({ of, text }) => spread(of(summary), text))],
  }));
  return tableOf(
    'Medians of the seeds; below them, where they differ, from the 5th to the 95th percentile',
    ['policy', 'seeds', ...COLUMNS.map(({ title }) => title)],
    rows,
  );
}

interface Row {
  readonly name: string;
  readonly own?: boolean;
  readonly cells: readonly string[];
}

function tableOf(caption: string, heads: readonly string[], rows: readonly Row[]): string {
  const head = heads.map((text) => `<th scope="col">${escaped(text)}</th>`).join('');
  const body = rows.map(({ name, own = false, cells }) => {
    const data = cells.map((text) => `<td>${escaped(text).replace('\n', '<br>')}</td>`).join('');
    return `<tr${own ? ' class="own"' : ''}><th scope="row">${escaped(name)}</th>${data}</tr>`;
  });
  return (
    `<div class="wide" tabindex="0" role="region" aria-label="${escaped(caption)}"><table><caption>${escaped(caption)}</caption>` +
    `<thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table></div>`
  );
}

/** The median and, on a line of its own, how far it spreads. */
function spread({ low, median, high }: Spread, text: Column['text']): string {
  const [from, to] = [text(low), text(high)];
  return from === to ? text(median) : `${text(median)}\n${from} – ${to}`;
}

interface Figure {
  readonly row: NumberRow;
  readonly title: string;
  readonly unit: string;
  readonly scale: 'linear' | 'log';
  /** What one of its unit is of the row's. */
  readonly one: number;
}

const PLOTS: readonly Figure[] = [
  { row: 'goodput', title: 'Messages done', unit: 'per second', scale: 'linear', one: 1 },
  { row: 'calls', title: 'Calls to the dependency', unit: 'per second, logarithmic', scale: 'log', one: 1 },
  { row: 'ageMs', title: 'Age of the oldest message that waits', unit: 'minutes', scale: 'linear', one: 60_000 },
  { row: 'quarantined', title: 'Healthy messages in the quarantine', unit: 'so far', scale: 'linear', one: 1 },
  { row: 'limit', title: 'Handlers that may run at once', unit: 'of all processes', scale: 'linear', one: 1 },
];

function figure({ arms, plan }: Report, { row, title, unit, scale, one }: Figure): string {
  const { stepMs } = arms[0]!.runs[0]!.series;
  const lines = arms.map(({ summary, runs }, style): Line => {
    const band = bandOf(
      runs.map(({ series }) => series),
      row,
    );
    const inUnits = (values: readonly number[]) => values.map((value) => value / one);
    return { name: summary.arm, style, low: inUnits(band.low), median: inUnits(band.median), high: inUnits(band.high) };
  });
  return (
    `<figure><figcaption>${escaped(title)} <span class="faint">${escaped(unit)}</span></figcaption>` +
    plot({ title, unit, scale, stepMs, lines, trouble: troubleOf(plan) }) +
    `${legend(arms)}${numbers(title, lines, stepMs)}</figure>`
  );
}

function legend(arms: readonly Arm[]): string {
  const items = arms.map(
    ({ summary: { arm } }, style) =>
      `<li><svg class="key s${style}" viewBox="0 0 40 10" aria-hidden="true"><path class="line" d="M1 5H39"/></svg>${escaped(arm)}</li>`,
  );
  return `<ul class="legend">${items.join('')}</ul>`;
}

/** Rows of a plot's table. */
const ROWS = 12;

/** The medians, for whoever would rather read than look. */
function numbers(title: string, lines: readonly Line[], stepMs: number): string {
  const steps = lines[0]!.median.length;
  const rows = Array.from({ length: Math.min(ROWS, steps) }, (_, at): Row => {
    const step = Math.round((steps * (at + 1)) / Math.min(ROWS, steps)) - 1;
    return {
      name: formatDuration(stepMs * (step + 1)),
      cells: lines.map(({ median }) => short(median[step]!)),
    };
  });
  const table = tableOf(`${title}, medians`, ['at', ...lines.map(({ name }) => name)], rows);
  return `<details><summary>These numbers as a table</summary>${table}</details>`;
}

const HEIGHTS = { closed: 0.15, ramping: 0.45, 'half-open': 0.7, open: 1 } as const;

/** Of the first seed: states have no median. */
function states({ arms, plan }: Report): string {
  const moved = arms.filter(({ runs }) => runs[0]!.series.states.some((state) => state !== 'closed'));
  if (moved.length === 0) return '';
  const strips = moved.map(({ summary: { arm: name }, runs }) => {
    const { stepMs, states } = runs[0]!.series;
    return `<p>${escaped(name)}</p>${stateStrip({ name, stepMs, states, heights: HEIGHTS, trouble: troubleOf(plan) })}`;
  });
  const keys = Object.entries(HEIGHTS).map(
    ([state, height]) =>
      `<li><svg class="key" viewBox="0 0 40 10" aria-hidden="true"><rect class="${state}" width="40" y="${10 - 10 * height}" height="${10 * height}"/></svg>${state}</li>`,
  );
  return (
    '<figure><figcaption>Breaker <span class="faint">the most open of all processes, first seed</span></figcaption>' +
    `${strips.join('')}<ul class="legend">${keys.join('')}</ul></figure>`
  );
}

function advice(findings: Report['findings']): string {
  const items = findings.map(
    ({ finding, why, todo }) => `<li><b>${escaped(finding)}</b> ${escaped(why)} ${escaped(todo)}</li>`,
  );
  return `<h2>What the doctor says of your policy</h2><ul>${items.join('')}</ul>`;
}

function model({ instances, concurrency, perSecond }: Plan): string {
  return `<p>It <b>is</b> Lazaret's own consumer, ${instances} times with ${concurrency} handlers each, in virtual time on the memory driver. ${perSecond} messages
a second arrive at random. Each handler makes one call to one dependency: ${SERVERS} calls at a time, ${SERVICE_MS} ms on average, first come
first served. A client gives up after ${formatDuration(CLIENT_TIMEOUT_MS)}; its call is served all the same, and each takes half as long again while the queue of calls is
longer than a client waits.</p>
<p>It is <b>not</b> your service: no other work, no garbage collection, no slow network, one queue, one dependency, no poison. Arrivals go on
through the trouble. Every handler's call is safe to repeat. Read what differs between the lines, and by how much; where you are, the
seconds will be others. A seed fixes all chance: the same command makes the same figures.</p>`;
}

function troubleOf({ troubleMs }: Plan): Period {
  return [CALM_MS, CALM_MS + troubleMs];
}

function isOwn({ arm }: Summary): boolean {
  return arm === OURS || arm === YOURS;
}
