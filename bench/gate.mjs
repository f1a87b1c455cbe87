import { Gate } from 'lazaret/core';
import { describeMachine } from './machine.mjs';
import { median } from './statistics.mjs';

/** What storm control adds to a message: admission, start and outcome of all its mechanisms, and nothing else. */
const CALLS = Number(process.argv[2] ?? 10_000_000);
const ROUNDS = 5;
const LEAST_GOAL_NS = 500;

const DONE = { kind: 'done' };
const FAILED = failure('unknown', 'TypeError');
const DOWN = failure('transient', 'ECONNREFUSED');

const flows = {
  'all is well': () => DONE,
  'one in a hundred fails': (n) => (n % 100 === 0 ? FAILED : DONE),
  'everything fails': () => DOWN,
  'two dependencies': () => DONE,
};

console.log(
  `${JSON.stringify(await describeMachine())}\n${CALLS} messages a round, ${ROUNDS} rounds, median (least to most) ns`,
);
let missed = false;
for (const [name, outcomeOf] of Object.entries(flows)) {
  const rounds = Array.from({ length: ROUNDS }, () => round(outcomeOf, name === 'two dependencies')).sort(
    (a, b) => a - b,
  );
  const [least, most] = [rounds[0], rounds.at(-1)];
  missed ||= median(rounds) > LEAST_GOAL_NS;
  console.log(
    `${name}: ${median(rounds).toFixed(0)} (${least.toFixed(0)} to ${most.toFixed(0)}); goal: at most ${LEAST_GOAL_NS}`,
  );
}
process.exitCode = missed ? 1 : 0;

/** Nanoseconds per message. Ten messages run at once, a message takes 10 ms, and 1,000 come in a second. */
function round(outcomeOf, named) {
  const gate = new Gate({ concurrency: 10, timeoutMs: 900_000, maxAttempts: 4, rate: { count: 1e6, perMs: 1000 } }, 0);
  const ids = Array.from({ length: 1024 }, (_, i) => `message ${i}`);
  const running = [];
  let now = 0;
  const before = process.hrtime.bigint();
  for (let n = 0; n < CALLS; n++) {
    now += 1;
    const passage = {
      message: ids[n & 1023],
      dependency: named ? (n & 1 ? 'payments' : 'stock') : undefined,
      attempt: 1,
      admitted: gate.admit(1, 0, now) === 1,
      scope: undefined,
      enteredAt: 0,
    };
    if (gate.enter(passage, now) === 0) running.push(passage);
    if (running.length >= 10) gate.outcome(running.shift(), outcomeOf(n), now, 0.5);
    gate.changes();
  }
  return Number(process.hrtime.bigint() - before) / CALLS;
}

function failure(kind, name) {
  const error = { name, message: 'no', causes: [] };
  return { kind: 'failed', failure: { kind, reason: 'exhausted', rule: 'a rule', error } };
}
