// The life of any server: installed, prepared, started, answering, stopped.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, renameSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listens } from './listener.mjs';
import { withLock } from './lock.mjs';
import { claimPorts, placeOf } from './place.mjs';
import { familyOf, isAlive, recall, remember, signal } from './process.mjs';
import { lastLines } from './run.mjs';

/** @typedef {import('./server.mjs').Server} Server */
/** @typedef {import('./server.mjs').Place} Place */
/** @typedef {import('./process.mjs').Known} Known */

const START_LIMIT_MS = 90_000;
const SLOW_MS = 3000;
const STOP_LIMIT_MS = 30_000;

/** @param {Server} server */
export async function up(server) {
  await alone(server, bringUp);
}

/** @param {Server} server */
export async function down(server) {
  await alone(server, stop);
}

/** @param {Server} server */
export async function kill(server) {
  await alone(server, crash);
}

/** @param {Server} server */
export async function restart(server) {
  await alone(server, async () => {
    await stop(server, placeOf(server));
    await bringUp(server, placeOf(server));
  });
}

/** @param {Server} server */
export async function status(server) {
  const place = placeOf(server);
  const running = recall(place);
  const answering = running !== undefined && (await answers(server, place));
  const state = running === undefined ? 'down' : answering ? 'up' : 'not answering';
  const where = running === undefined ? '' : `  pid ${running.pid}  ${server.address(place)}`;
  console.log(`${server.name.padEnd(11)} ${state}${where}`);
  if (!answering) process.exitCode = 1;
}

/**
 * @param {Server} server
 * @param {Place} place
 */
async function bringUp(server, place) {
  const begun = performance.now();
  const running = recall(place);
  if (running === undefined) await startAnew(server, place);
  else await step(place, 'answer', () => becomeReady(server, place, running));
  const seconds = ((performance.now() - begun) / 1000).toFixed(2);
  tell(server, running === undefined ? `up in ${seconds} s` : `was up already (${seconds} s)`);
  console.log(variableLine(server, placeOf(server)));
}

/**
 * @param {Server} server
 * @param {Place} before   its ports are only a wish until they are claimed
 */
async function startAnew(server, before) {
  await step(before, 'install', () => server.install());
  const place = await step(before, 'claim ports', () => claimPorts(server, before));
  const command = await step(place, 'prepare', () => server.prepare(place));
  const started = await step(place, 'start', () => start(place, command));
  await step(place, 'answer', () => becomeReady(server, place, started));
}

/**
 * @param {Server} server
 * @param {Place} place
 */
export function variableLine(server, place) {
  return `${server.variable}=${server.address(place)}`;
}

/**
 * @param {Place} place
 * @param {import('./server.mjs').Command} command
 * @returns {Promise<Known>}
 */
async function start(place, command) {
  const log = `${place.folder}/log`;
  if (existsSync(log)) renameSync(log, `${log}.before`);
  const output = openSync(log, 'w');
  const child = spawn(command.program, command.args, {
    cwd: place.folder,
    detached: true,
    stdio: ['ignore', output, output],
    env: { PATH: process.env.PATH, HOME: place.folder, LANG: 'C.UTF-8', ...command.env },
    ...command.account,
  });
  closeSync(output);
  child.unref();
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  return remember(place, /** @type {number} */ (child.pid));
}

/**
 * An open port is too early: most servers listen before they can serve.
 * @param {Server} server
 * @param {Place} place
 * @param {Known} running
 */
async function becomeReady(server, place, running) {
  const deadline = performance.now() + START_LIMIT_MS;
  while (!(await answers(server, place))) {
    if (!isAlive(running)) throw new Error('it ended');
    if (performance.now() > deadline) throw new Error(`no answer within ${START_LIMIT_MS / 1000} s`);
    await sleep(50);
  }
  // n.b. a stranger who took the port in between may speak the same protocol.
  const [port] = place.ports;
  if (!listens(familyOf(running), port)) throw new Error(`another process answers on port ${port}`);
}

/**
 * @param {Server} server
 * @param {Place} place
 */
async function answers(server, place) {
  try {
    return await server.answers(place);
  } catch {
    return false;
  }
}

/**
 * @param {Server} server
 * @param {Place} place
 */
async function stop(server, place) {
  const running = recall(place);
  if (running === undefined) return tell(server, 'was not running');
  const family = familyOf(running);
  signal(running, server.stopSignal ?? 'SIGTERM');
  const inTime = await ended([running], STOP_LIMIT_MS);
  await end(family);
  tell(server, inTime ? 'stopped' : `did not stop within ${STOP_LIMIT_MS / 1000} s, and was killed`);
}

/**
 * @param {Server} server
 * @param {Place} place
 */
async function crash(server, place) {
  const running = recall(place);
  if (running === undefined) return tell(server, 'was not running');
  await end(familyOf(running));
  tell(server, 'killed');
}

/**
 * The parent comes first, so that it cannot tidy up after its children.
 * @param {readonly Known[]} family
 */
async function end(family) {
  for (const member of family) signal(member, 'SIGKILL');
  if (!(await ended(family, STOP_LIMIT_MS))) throw new Error('processes outlived SIGKILL');
}

/**
 * @param {readonly Known[]} processes
 * @param {number} limitMs
 */
async function ended(processes, limitMs) {
  const deadline = performance.now() + limitMs;
  while (processes.some(isAlive)) {
    if (performance.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

/**
 * Two callers at once take turns, server by server.
 * @param {Server} server
 * @param {(server: Server, place: Place) => Promise<void>} action
 */
async function alone(server, action) {
  const { folder } = placeOf(server);
  await withLock(`${folder}/lock`, async () => action(server, placeOf(server)));
}

/**
 * @template Result
 * @param {Place} place
 * @param {'install' | 'claim ports' | 'prepare' | 'start' | 'answer'} name
 * @param {() => Promise<Result>} action
 * @returns {Promise<Result>}
 */
async function step(place, name, action) {
  const slow = setTimeout(() => console.error(`${basename(place.folder)}: ${name} ...`), SLOW_MS);
  try {
    return await action();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const log = name === 'answer' ? lastLines(`${place.folder}/log`) : '';
    throw new Error(`could not ${name}: ${why}${log}`, { cause });
  } finally {
    clearTimeout(slow);
  }
}

/**
 * @param {Server} server
 * @param {string} news
 */
function tell(server, news) {
  console.error(`${server.name}: ${news}`);
}
