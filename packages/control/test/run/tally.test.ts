import { describe, expect, it } from 'vitest';
import { lineNames } from '../../src/run/line-names.ts';
import { Tally } from '../../src/run/tally.ts';

const line = (number: number) => ({ number, bytes: new Uint8Array() });
const END = { input: 'in', queue: 'q', complete: true, inQueue: 0, open: 0, ms: 1 };

describe('what an earlier run left in the queue', () => {
  it('counts as a line of this run when it is concluded before the line is read', () => {
    const tally = new Tally(lineNames('in'));
    tally.done('in:1', false);
    tally.quarantined('in:2', { reason: 'poison', why: 'x', fingerprint: 'v1:1' });
    tally.read({ lines: [line(1), line(2), line(3)], empty: 0, bytesRead: 10 });
    tally.sent(3);
    expect(tally.summary(END)).toMatchObject({ lines: 3, done: 1, quarantined: 1, known: 1, others: 0 });
  });

  it('counts as another message when its line is never read', () => {
    const tally = new Tally(lineNames('in'));
    tally.done('in:7', false);
    tally.read({ lines: [line(1)], empty: 0, bytesRead: 10 });
    tally.sent(1);
    expect(tally.summary(END)).toMatchObject({ lines: 1, done: 0, known: 1, others: 1 });
  });

  it('counts once, however often it is told', () => {
    const tally = new Tally(lineNames('in'));
    tally.done('in:1', false);
    tally.read({ lines: [line(1)], empty: 0, bytesRead: 10 });
    tally.sent(1);
    tally.done('in:1', false);
    expect(tally.summary(END)).toMatchObject({ lines: 1, done: 1, others: 0 });
  });
});
