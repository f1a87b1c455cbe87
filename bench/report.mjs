import { median } from './statistics.mjs';

const UNITS = { rate: 'msg/s', cpuUs: 'us of CPU/msg', p50: 'ms p50', p99: 'ms p99', rssMb: 'MB' };

export function heading({ cpu, cores, memoryGb, kernel, fileSystem, load }, results, scale) {
  const versions = new Map(results.map(({ binding, versions }) => [binding, versions]));
  const loads = results.flatMap(({ rounds }) => rounds.map((round) => round.load));
  return [
    `machine   ${cpu}, ${cores} cores, ${memoryGb} GB, ${kernel}, ${fileSystem}`,
    `load      ${load.toFixed(1)} before, ${median(loads).toFixed(1)} median, ${Math.max(...loads).toFixed(1)} at most`,
    ...[...versions].map(
      ([name, { binding, sqlite, node }]) => `binding   ${name} ${binding}, SQLite ${sqlite}, Node ${node}`,
    ),
    'settings  WAL, synchronous=NORMAL for claims and acks; bodies of 100 B; idempotency off; every round in fresh processes',
    ...(scale === 1 ? [] : ['QUICK     too few messages to judge by']),
    '',
  ].join('\n');
}

export function goals(results) {
  const lines = results.flatMap(({ row, title, binding, goals }) => [
    `${row}  ${title}  (${binding})`,
    ...goals.map((goal) => `    ${comparison(goal)}`),
  ]);
  return [...lines, ''].join('\n');
}

function comparison({ name, metric, unit, value, range, rounds, byInterval, atLeast, atMost, met, off }) {
  const spread = `${short(range[0])} to ${short(range[1])}`;
  const measured = `${name.padEnd(36)} ${metric.padEnd(6)} ${short(value).padStart(7)} ${unit.padEnd(3)} (${byInterval ? '95 %: ' : ''}${spread}; ${rounds})`;
  if (met === undefined) return measured;
  const goal = atLeast === undefined ? `<= ${atMost}` : `>= ${atLeast}`;
  return `${measured.padEnd(84)} ${goal.padEnd(9)} ${met ? 'met' : 'MISSED'} by ${short(Math.abs(off))}`;
}

/** They rank on one machine, and compare nothing across machines. */
export function absolutes(results) {
  const lines = results.flatMap(({ row, binding, rounds }) => {
    const { load, ...contestants } = rounds[0];
    return Object.keys(contestants).map((name) => {
      const metrics = Object.keys(contestants[name]).filter((metric) => metric in UNITS);
      const medians = metrics.map(
        (metric) => `${short(median(rounds.map((round) => round[name][metric])))} ${UNITS[metric]}`,
      );
      return `${row.padEnd(3)} ${binding.padEnd(22)} ${name.padEnd(18)} ${medians.join(', ')}`;
    });
  });
  return ['absolute, medians', ...lines].join('\n');
}

function short(value) {
  if (!Number.isFinite(value)) return '?';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}
