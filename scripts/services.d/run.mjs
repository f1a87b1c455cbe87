import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const SHOWN_LINES = 15;

/**
 * Runs a program to its end, and says what it said last when it fails.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ input?: string, account?: import('./server.mjs').Account, env?: Readonly<Record<string, string>> }} [how]
 *   env is added to the caller's
 * @returns {Promise<string>} what it printed on its standard output
 */
export function run(program, args, { input = '', account, env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'pipe', env: { ...process.env, ...env }, ...account });
    let printed = '';
    let all = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      all += chunk;
    });
    child.stderr.on('data', (chunk) => {
      all += chunk;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(printed);
      else reject(new Error(`${program} ended with ${code ?? signal}${tail(all)}`));
    });
    // n.b. a program that ends without reading its input is judged by how it ends.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/**
 * The end of a file, ready to be put behind a message; empty when there is none.
 * @param {string} path
 */
export function lastLines(path) {
  return existsSync(path) ? `${tail(readFileSync(path, 'utf8'))}\n  (all of it: ${path})` : '';
}

/** @param {string} text */
function tail(text) {
  const lines = text.trimEnd().split('\n').slice(-SHOWN_LINES);
  return lines.map((line) => `\n  | ${line}`).join('');
}
