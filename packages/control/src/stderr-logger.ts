import type { LogFields, Logger } from 'lazaret';
import { say } from './cli/present.ts';
import type { Sink } from './cli/sink.ts';

const AGAIN_MS = 10_000;

/** Errors of the runtime as sentences. The same one is said once in ten seconds: a disk stays full for a while. Warnings are about single messages, and those are counted anyway. */
export function stderrLogger(stderr: Sink, monotonic: () => number): Logger {
  const saidAt = new Map<string, number>();
  return {
    debug() {},
    info() {},
    warn() {},
    error(event, fields = {}) {
      const sentence = sentenceOf(event, fields);
      const now = monotonic();
      if (now - (saidAt.get(sentence) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return;
      saidAt.set(sentence, now);
      say(stderr, sentence);
    },
  };
}

function sentenceOf(event: string, { queue, verb, error }: LogFields): string {
  const where = [queue, verb].filter((part) => part !== undefined).join(' ');
  return [event, where, error].filter((part) => part !== undefined && part !== '').join(': ');
}
