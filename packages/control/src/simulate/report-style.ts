/** One for each line of a plot: told apart by dashes and width too, for whoever does not see the colours. */
const LINES: readonly {
  readonly light: string;
  readonly dark: string;
  readonly dash: string;
  readonly width: number;
}[] = [
  { light: '#8a5a00', dark: '#e0a84a', dash: '2 3', width: 2 },
  { light: '#a33b76', dark: '#ef8fc4', dash: '7 3', width: 2 },
  { light: '#5b5fc7', dark: '#a3a6ff', dash: '1 5', width: 3 },
  { light: '#0b7a75', dark: '#5fd0c9', dash: '8 3 2 3', width: 2 },
  { light: '#0a5bd3', dark: '#7ab4ff', dash: 'none', width: 3 },
  { light: '#1b1f24', dark: '#ffffff', dash: '14 4', width: 3 },
];

function inks(theme: 'light' | 'dark'): string {
  return LINES.map((line, at) => `--s${at}:${line[theme]}`).join(';');
}

/** Of the report, whole: light and dark, from 360 pixels up, on paper too. */
export const STYLE: string = `
:root{color-scheme:light dark;--ink:#1b1f24;--faint:#5b6570;--paper:#fff;--rule:#d6dbe0;--trouble:#fbe5e2;--own:#eaf2ff;--bad:#b3261e;--mid:#b26a00;${inks('light')}}
@media (prefers-color-scheme:dark){:root{--ink:#e8ebee;--faint:#a3adb8;--paper:#14171b;--rule:#343b43;--trouble:#3d2321;--own:#17263a;--bad:#ff8a80;--mid:#ffc168;${inks('dark')}}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .75rem}
h2{font-size:1.2rem;margin:2.5rem 0 .5rem}
.headline{font-size:1.2rem;line-height:1.35;font-weight:600;border-left:4px solid var(--s4);padding-left:.75rem}
.faint,caption{color:var(--faint);font-weight:400}
ul{padding-left:1.2rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%;font-size:.8125rem}
caption{text-align:left;padding:.25rem 0;caption-side:bottom}
th,td{padding:.35rem .4rem;text-align:right;border-bottom:1px solid var(--rule);vertical-align:top}
thead th{vertical-align:bottom}
td{white-space:nowrap}
th:first-child{text-align:left;white-space:nowrap;padding-left:.25rem}
tr.own{background:var(--own)}
figure{margin:2rem 0}
figcaption,figure p{font-weight:600;margin:0 0 .25rem}
figure p{font-weight:400;margin-top:.5rem}
.plot,.strip{width:100%;display:block}
.plot text,.strip text{fill:var(--faint);font:12px system-ui,sans-serif;stroke:var(--paper);stroke-width:3px;paint-order:stroke}
.grid{stroke:var(--rule)}
.trouble{fill:var(--trouble)}
.band{opacity:.18;stroke:none}
.line{fill:none;vector-effect:non-scaling-stroke}
${LINES.map(({ dash, width }, at) => `.s${at} .line{stroke:var(--s${at});stroke-width:${width};stroke-dasharray:${dash}}.s${at} .band{fill:var(--s${at})}`).join('\n')}
.closed{fill:var(--s3)}.ramping,.half-open{fill:var(--mid)}.open{fill:var(--bad)}
.legend{list-style:none;padding:0;margin:.25rem 0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.875rem}
.key{width:2.5rem;height:.625rem;margin-right:.4rem}
details{font-size:.875rem;color:var(--faint)}
code{overflow-wrap:anywhere}
`;
