import { formatDuration } from 'lazaret/core';
import type { SimulationRun } from 'lazaret/testing';
import { escaped } from './escaped.ts';
import { counted, headline } from './sentences.ts';
import type { Summary } from './summary.ts';
import { bandOf, type NumberRow } from './summary.ts';
import { type Line, plot, stateStrip } from './svg-plot.ts';

export interface Report {
  readonly title: string;
  readonly premise: string;
  /** The command that made it. */
  readonly command: string;
  readonly calmMs: number;
  readonly troubleMs: number;
  readonly arms: readonly { readonly summary: Summary; readonly runs: readonly SimulationRun[] }[];
  readonly findings: readonly { readonly finding: string; readonly why: string; readonly todo: string }[];
}

const PLOTS: readonly { row: NumberRow; title: string; unit: string; scale: 'linear' | 'log'; of?: number }[] = [
  { row: 'goodput', title: 'Messages done', unit: 'per second', scale: 'linear' },
  { row: 'calls', title: 'Calls to the dependency', unit: 'per second, logarithmic', scale: 'log' },
  { row: 'limit', title: 'Handlers that may run at once', unit: 'the whole fleet', scale: 'linear' },
  { row: 'ageMs', title: 'Age of the oldest message', unit: 'minutes', scale: 'linear', of: 60_000 },
  { row: 'quarantined', title: 'Healthy messages in the quarantine', unit: 'so far', scale: 'linear' },
];

/** One file that stands alone: no script, nothing fetched. */
export function reportPage(report: Report): string {
  const { title, premise, command, arms, findings } = report;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p class="premise">${escaped(premise)}</p>
<ul class="headlines">${arms.map(({ summary }) => `<li class="${armClass(summary)}">${escaped(headline(summary))}</li>`).join('')}</ul>
${table(arms.map(({ summary }) => summary))}
${legend(arms.map(({ summary }) => summary))}
${PLOTS.map((one) => figure(report, one)).join('\n')}
${states(report)}
${findings.length === 0 ? '' : advice(findings)}
<h2>What this model is, and is not</h2>
<p>It runs Lazaret's own consumer under a virtual clock, against a model: one dependency with a fixed number of servers and one queue of
calls, which works on for callers that have given up, and takes half as long again while calls wait. Arrivals are random, the rest of your
service is not modelled: no garbage collection, no slow disk, no second queue. Read the differences between the lines; the seconds will be
other ones where you are. Lines are medians, bands reach from the 5th to the 95th percentile of the seeds.</p>
<p class="command">Made by <code>${escaped(command)}</code></p>
</main>
</body>
</html>
`;
}

function figure(
  { arms, calmMs, troubleMs }: Report,
  { row, title, unit, scale, of = 1 }: (typeof PLOTS)[number],
): string {
  const stepMs = arms[0]!.runs[0]!.series.stepMs;
  const lines: Line[] = arms.map(({ summary, runs }, arm) => {
    const { low, middle, high } = bandOf(
      runs.map(({ series }) => series),
      row,
    );
    const scaled = (values: readonly number[]) => values.map((value) => value / of);
    return { name: summary.arm, style: arm, low: scaled(low), middle: scaled(middle), high: scaled(high) };
  });
  const svg = plot({ title, unit, scale, stepMs, lines, trouble: [calmMs, calmMs + troubleMs] });
  return `<figure><figcaption>${escaped(title)} <small>${escaped(unit)}</small></figcaption>${svg}</figure>`;
}

/** Of the first seed: states have no median. */
function states({ arms, calmMs, troubleMs }: Report): string {
  const own = arms.filter(({ runs }) => runs[0]!.series.states.some((state) => state !== 'closed'));
  if (own.length === 0) return '';
  const strips = own.map(({ summary, runs }) => {
    const { stepMs, states: all } = runs[0]!.series;
    return `<p>${escaped(summary.arm)}</p>${stateStrip({ name: summary.arm, stepMs, states: all, trouble: [calmMs, calmMs + troubleMs] })}`;
  });
  return `<figure><figcaption>Breaker <small>of the first seed: the worst of the fleet</small></figcaption>${strips.join('')}</figure>`;
}

function legend(summaries: readonly Summary[]): string {
  const items = summaries.map(
    ({ arm, says }, index) =>
      `<li><svg class="key s${index}" viewBox="0 0 40 10" aria-hidden="true"><path d="M1 5H39"/></svg><b>${escaped(arm)}</b> ${escaped(says)}</li>`,
  );
  return `<ul class="legend">${items.join('')}</ul>`;
}

function table(summaries: readonly Summary[]): string {
  const head = [
    '',
    'calls in the trouble',
    'done/s in it',
    'done/s after',
    '≥ 90 % after',
    'caught up after',
    'healthy quarantined',
    'calls per success',
  ];
  const rows = summaries.map((summary) => [
    summary.arm,
    counted(summary.callsInTrouble),
    String(summary.goodputInTrouble),
    String(summary.goodputAfter),
    after(summary.recoveredAfterMs),
    after(summary.drainedAfterMs),
    counted(summary.quarantined),
    summary.callsPerSuccess === null ? '–' : String(summary.callsPerSuccess),
  ]);
  const cells = (row: readonly string[]) =>
    `<th scope="row">${escaped(row[0]!)}</th>${row
      .slice(1)
      .map((cell) => `<td>${escaped(cell)}</td>`)
      .join('')}`;
  return `<div class="wide"><table><thead><tr>${head.map((cell) => `<th scope="col">${escaped(cell)}</th>`).join('')}</tr></thead><tbody>${rows.map((row, at) => `<tr class="${armClass(summaries[at]!)}">${cells(row)}</tr>`).join('')}</tbody></table></div>`;
}

export function after(ms: number | null): string {
  return ms === null ? 'never' : formatDuration(ms);
}

function advice(findings: Report['findings']): string {
  const items = findings.map(
    ({ finding, why, todo }) =>
      `<li><p><b>${escaped(finding)}</b></p><p>${escaped(why)}</p><p>${escaped(todo)}</p></li>`,
  );
  return `<h2>What the doctor says of your policy</h2><ul class="advice">${items.join('')}</ul>`;
}

function armClass({ arm }: Summary): string {
  return arm === 'lazaret' || arm === 'yours' ? 'own' : 'other';
}

const STYLE = `
:root{--ink:#1b1f24;--faint:#5b6570;--paper:#fff;--line:#d6dbe0;--trouble:#fbe9e7;--own:#eef5ff;
--s0:#8a5a00;--s1:#a33b76;--s2:#5b5fc7;--s3:#0b7a75;--s4:#0a5bd3;--s5:#1b1f24;--bad:#b3261e;--mid:#b26a00}
@media (prefers-color-scheme:dark){:root{--ink:#e8ebee;--faint:#a3adb8;--paper:#14171b;--line:#343b43;--trouble:#3a2220;--own:#17263a;
--s0:#e0a84a;--s1:#ef8fc4;--s2:#a3a6ff;--s3:#5fd0c9;--s4:#7ab4ff;--s5:#fff;--bad:#ff8a80;--mid:#ffc168}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 4rem}h1{font-size:1.6rem;line-height:1.2;margin:0 0 .5rem}h2{font-size:1.2rem;margin:2rem 0 .5rem}
.premise,small,.command{color:var(--faint)}.headlines{padding:0;list-style:none}.headlines li{padding:.3rem .6rem;border-left:4px solid var(--line);margin:.3rem 0}
.headlines .own{border-color:var(--s4);font-weight:600}.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%;font-size:.9rem}
th,td{padding:.35rem .6rem;text-align:right;border-bottom:1px solid var(--line);vertical-align:bottom}th:first-child{text-align:left;white-space:nowrap}tr.own{background:var(--own)}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;font-size:.9rem}.key{width:2.5rem;height:.7rem;margin-right:.4rem}
figure{margin:1.5rem 0}figcaption{font-weight:600}svg.plot,svg.strip{width:100%;height:auto;display:block}
svg text{fill:var(--faint);font:12px system-ui,sans-serif}.grid{stroke:var(--line);stroke-width:1}.trouble{fill:var(--trouble)}.band{opacity:.15;stroke:none}
path.line,.key path{fill:none;stroke-width:2}
${[0, 1, 2, 3, 4, 5].map((at) => `.s${at} path.line,.key.s${at} path{stroke:var(--s${at});stroke-dasharray:${['2 3', '7 3', '1 4', '8 3 2 3', 'none', '12 3'][at]}}.s${at} .band{fill:var(--s${at})}`).join('')}
.s4 path.line,.key.s4 path,.s5 path.line,.key.s5 path{stroke-width:3}
.closed{fill:var(--s3)}.open{fill:var(--bad)}.half-open,.ramping{fill:var(--mid)}code{overflow-wrap:anywhere}
`;
