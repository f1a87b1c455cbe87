import { parseArgs } from 'node:util';
import { BINDINGS } from './bindings.mjs';
import { ROWS } from './rows/index.mjs';

export const USAGE = `node bench/run.mjs [options]
  --rows 1,2,…        only these rows: ${ROWS.map(({ number }) => number).join(', ')}
  --rounds n          rounds of each row, default 5; a row may want more
  --bindings a,b      of ${BINDINGS.join(', ')}; default: all that are there
  --node path         the Node that measures node:sqlite, where this one has none
  --quick             a tenth of the messages, one round: whether it works, not how fast
  --json file         also writes every round there`;

/** Throws a sentence for people. */
export function readArguments(given) {
  const { values } = parseArgs({
    args: given,
    options: {
      rows: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      bindings: { type: 'string' },
      node: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { quick, json, help } = values;
  return {
    rows: chosen(values.rows, ROWS, ({ number }) => number),
    bindings: chosen(values.bindings, BINDINGS, (name) => name),
    roundsOf: (row) => (quick ? 1 : Math.max(row.minRounds, Number(values.rounds))),
    scale: quick ? 0.1 : 1,
    nodes: nodes(values.node),
    json,
    help,
  };
}

function chosen(list, all, nameOf) {
  if (list === undefined) return all;
  return list.split(',').map((name) => {
    const found = all.find((one) => nameOf(one) === name);
    if (found === undefined) throw new Error(`There is no '${name}', only ${all.map(nameOf).join(', ')}.`);
    return found;
  });
}

/** Compiled bindings fit the Node that runs this; `node:sqlite` comes with a newer one. */
function nodes(newer) {
  return {
    'better-sqlite3': process.execPath,
    '@photostructure/sqlite': process.execPath,
    'node:sqlite': newer ?? process.execPath,
  };
}
