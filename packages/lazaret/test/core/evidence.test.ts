import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Evidence, evidenceHeader, plainEvidenceHeaders, readEvidence } from '../../src/core/evidence.ts';
import { type NormalError, normalise } from '../../src/core/normalise.ts';

const EVIDENCE: Evidence = {
  reason: 'exhausted',
  queue: 'orders',
  attempts: 4,
  strikes: 1,
  firstSeenAt: 1_772_366_400_123,
  deadAt: 1_772_366_460_000,
  fingerprint: 'v1:85944171f73967e8',
  why: 'Error: no stock',
};

const ERROR: NormalError = {
  name: 'PaymentError',
  message: 'card declined: "überzogen" 😀\u0000\u2028',
  stack: 'PaymentError: card declined\n    at charge (/app/charge.js:1:1)\n    at handle (/app/handle.js:2:2)',
  code: 'DECLINED',
  status: 402,
  causes: [{ name: 'Error', message: 'below', stack: 'Error: below\n    at x', causes: [] }],
};

const FULL: Evidence = { ...EVIDENCE, error: ERROR, position: 'orders:3@42', deliveries: 7, version: '1.42.0' };

const ASCII = /^[ -~]*$/;

function read(evidence: Evidence, budget: number): Evidence | undefined {
  return readEvidence(evidenceHeader(evidence, budget).text ?? '');
}

function withError(fields: Partial<NormalError>): Evidence {
  return { ...FULL, error: { ...ERROR, ...fields } };
}

describe('evidenceHeader', () => {
  it('carries everything where there is room', () => {
    const { level, text } = evidenceHeader(FULL, 4096);
    expect(level).toBe('full');
    expect(text).toMatch(ASCII);
    expect(text).not.toContain('truncated');
    expect(readEvidence(text!)).toEqual(FULL);
  });

  it('leaves no field behind that is absent', () => {
    expect(read(EVIDENCE, 4096)).toEqual(EVIDENCE);
    expect(Object.keys(read(EVIDENCE, 4096)!)).toEqual(Object.keys(EVIDENCE));
  });

  it.each<[string, Evidence, number, 'full' | 'truncated' | 'minimal' | 'bare']>([
    ['all of it', FULL, 4096, 'full'],
    ['a part of it', FULL, 540, 'truncated'],
    ['hardly anything', FULL, 250, 'minimal'],
    ['less than the queue needs', FULL, 155, 'minimal'],
    ['nothing', FULL, 100, 'bare'],
    ['no byte', FULL, 0, 'bare'],
    ['less than nothing', FULL, -1, 'bare'],
    ['no number', FULL, Number.NaN, 'bare'],
    ['any size', FULL, Number.POSITIVE_INFINITY, 'full'],
    ['any size, but too much of it', withError({ stack: 's'.repeat(5000) }), Number.POSITIVE_INFINITY, 'truncated'],
    ['a letter without an error', { ...EVIDENCE, why: 'w'.repeat(600) }, 500, 'truncated'],
  ])('finds its level where there is room for %s', (_, evidence, budget, level) => {
    expect(evidenceHeader(evidence, budget).level).toBe(level);
  });

  it('marks what was shortened', () => {
    expect(JSON.parse(evidenceHeader(FULL, 540).text!)).toMatchObject({ truncated: true });
    expect(JSON.parse(evidenceHeader(FULL, 250).text!)).toMatchObject({ truncated: true });
  });

  it('gives up stacks first, then causes, then the end of the message', () => {
    const evidence = withError({
      message: `begin ${'m'.repeat(300)}`,
      stack: 's'.repeat(2000),
      causes: [cause('one'), cause('two')],
    });
    const seen: string[] = [];
    for (let budget = 4096; budget >= 200; budget -= 1) {
      const error = read(evidence, budget)?.error;
      const parts = [
        error?.stack && (error.stack.length === 2000 ? 'stack' : 'part of the stack'),
        error?.causes[0]?.stack && 'stacks of causes',
        error && `${error.causes.length} causes`,
        error && (error.message.length === 306 ? 'message' : 'part of the message'),
      ];
      const now = parts.filter(Boolean).join(', ');
      if (now !== seen.at(-1)) seen.push(now);
    }
    expect(seen).toEqual([
      'stack, stacks of causes, 2 causes, message',
      'stack, 2 causes, message',
      'part of the stack, 2 causes, message',
      '2 causes, message',
      '1 causes, message',
      '0 causes, message',
      '0 causes, part of the message',
      '',
    ]);
  });

  it('has no gap: a smaller budget never holds more', () => {
    const levels = ['bare', 'minimal', 'truncated', 'full'];
    const sizes = Array.from({ length: 700 }, (_, budget) => {
      const { level, text } = evidenceHeader(withError({ message: 'm"é😀'.repeat(20) }), budget);
      return levels.indexOf(level) * 10_000 + (text?.length ?? 0);
    });
    // A character more or less of the message may swap six bytes for one.
    sizes.forEach((size, budget) => {
      if (budget > 0) expect(size).toBeGreaterThanOrEqual(sizes[budget - 1]! - 12);
    });
  });

  it('cuts only ends: what is left is a beginning', () => {
    const error = read(
      withError({ message: `begin ${'😀'.repeat(500)}`, stack: 'first line\nsecond line', causes: [] }),
      700,
    )!.error!;
    expect(error.message).toMatch(/^begin (😀)+$/u);
  });

  it('in its minimal form says why, how often and when', () => {
    expect(read(FULL, 250)).toEqual({ ...EVIDENCE, why: '' });
    expect(read(FULL, 155)).toEqual({ ...EVIDENCE, why: '', queue: '' });
  });

  it('stays the same size over cycles through the dead-letter queue', () => {
    let evidence: Evidence = { ...FULL, error: normalise(new Error('m'.repeat(1024 * 1024))) };
    const sizes: number[] = [];
    for (let cycle = 0; cycle < 4; cycle++) {
      const { text } = evidenceHeader(evidence, 4096);
      sizes.push(text!.length);
      evidence = { ...readEvidence(text!)!, attempts: evidence.attempts };
    }
    expect(sizes[0]).toBeLessThanOrEqual(4096);
    expect(Math.max(...sizes)).toBe(sizes[0]);
    expect(sizes[0]! - sizes.at(-1)!).toBeLessThan(40);
  });

  const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 50 }), fc.string({ unit: 'binary', maxLength: 5000 }));
  const link = fc.record(
    {
      name: fc.string({ maxLength: 256 }),
      message: text,
      stack: text,
      code: fc.string(),
      status: fc.integer({ min: 300, max: 599 }),
      causes: fc.constant([]),
    },
    { requiredKeys: ['name', 'message', 'causes'] },
  );
  const error = fc.tuple(link, fc.array(link, { maxLength: 8 })).map(([top, causes]) => ({ ...top, causes }));
  const evidence: fc.Arbitrary<Evidence> = fc.record(
    {
      reason: fc.constantFrom('poison', 'exhausted', 'crash', 'manual'),
      queue: text,
      attempts: fc.nat(),
      strikes: fc.nat(),
      firstSeenAt: fc.nat(8_640_000_000_000_000),
      deadAt: fc.nat(8_640_000_000_000_000),
      fingerprint: fc.constant('v1:85944171f73967e8'),
      why: text,
      error,
      position: text,
      deliveries: fc.nat(),
      version: text,
    },
    { requiredKeys: ['reason', 'queue', 'attempts', 'strikes', 'firstSeenAt', 'deadAt', 'fingerprint', 'why'] },
  );

  it('is always within its budget, printable, and reads back', () => {
    fc.assert(
      fc.property(evidence, fc.integer({ min: -10, max: 6000 }), (given, budget) => {
        const { level, text: written } = evidenceHeader(given, budget);
        if (written === undefined) return level === 'bare' && budget < 260;
        const back = readEvidence(written);
        expect(written.length).toBeLessThanOrEqual(Math.min(4096, budget));
        expect(written).toMatch(ASCII);
        expect(back).toMatchObject({ reason: given.reason, attempts: given.attempts, firstSeenAt: given.firstSeenAt });
        if (level === 'full') expect(back).toEqual(wellFormed(given));
        else expect(JSON.parse(written).truncated).toBe(true);
        return true;
      }),
    );
  });

  it('never grows by being read and written again', () => {
    fc.assert(
      fc.property(evidence, fc.integer({ min: 260, max: 6000 }), (given, budget) => {
        const first = evidenceHeader(given, budget).text!;
        const second = evidenceHeader(readEvidence(first)!, budget).text!;
        return second.length <= first.length;
      }),
    );
  });
});

function cause(message: string): NormalError {
  return { name: 'Error', message, stack: 'c'.repeat(300), causes: [] };
}

/** Lone surrogates cannot be encoded; reading replaces them. */
function wellFormed<T>(value: T): T {
  return JSON.parse(JSON.stringify(value).replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, '$1\\ufffd')) as T;
}

describe('readEvidence', () => {
  const written = JSON.parse(evidenceHeader(FULL, 4096).text!) as Record<string, unknown>;

  it.each<[string, string]>([
    ['nothing', ''],
    ['no JSON', 'x-death'],
    ['half of it', evidenceHeader(FULL, 4096).text!.slice(0, -1)],
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"poison"'],
    ['an empty object', '{}'],
    ['more than 64 KiB', JSON.stringify({ ...written, padding: 'x'.repeat(70_000) })],
    ['a deep nest', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
  ])('reads nothing from %s', (_, text) => {
    expect(readEvidence(text)).toBeUndefined();
  });

  it.each<[string, object]>([
    ['an unknown reason', { reason: 'because' }],
    ['a reason that objects have', { reason: 'constructor' }],
    ['no reason', { reason: undefined }],
    ['attempts as text', { attempts: '4' }],
    ['negative attempts', { attempts: -1 }],
    ['a fraction of an attempt', { attempts: 1.5 }],
    ['attempts beyond whole numbers', { attempts: 1e300 }],
    ['no attempts', { attempts: undefined }],
    ['strikes as text', { strikes: '1' }],
    ['a time before the epoch', { firstSeenAt: -1 }],
    ['a time beyond all times', { deadAt: 9e15 }],
    ['a time as text', { firstSeenAt: '2026-03-01T12:00:00Z' }],
    ['a queue that is none', { queue: 7 }],
    ['a null queue', { queue: null }],
    ['a fingerprint that is none', { fingerprint: ['v1'] }],
    ['no fingerprint', { fingerprint: undefined }],
    ['a why that is none', { why: {} }],
    ['a position that is none', { position: 42 }],
    ['deliveries as text', { deliveries: '7' }],
    ['a version that is none', { version: 1 }],
    ['an error that is a text', { error: 'boom' }],
    ['an error that is null', { error: null }],
    ['an error without a message', { error: { name: 'E', causes: [] } }],
    ['a status as text', { error: { ...ERROR, status: '503' } }],
    ['a stack that is none', { error: { ...ERROR, stack: [] } }],
    ['causes that are none', { error: { ...ERROR, causes: {} } }],
    ['a cause that is none', { error: { ...ERROR, causes: ['boom'] } }],
  ])('refuses %s', (_, fields) => {
    expect(readEvidence(JSON.stringify({ ...written, ...fields }))).toBeUndefined();
  });

  it('drops fields that it does not know', () => {
    const text = `{"__proto__":{"polluted":1},"native":{},${JSON.stringify({ ...written, constructor: 1, truncated: true }).slice(1)}`;
    const evidence = readEvidence(text)!;
    expect(evidence).toEqual(FULL);
    expect(Object.getPrototypeOf(evidence)).toBe(Object.prototype);
    expect('polluted' in evidence).toBe(false);
  });

  it('cuts texts to their limits, and causes to eight without their own', () => {
    const long = 'x'.repeat(5000);
    const deep = {
      ...ERROR,
      name: long,
      causes: [{ ...ERROR, causes: [ERROR] }, ...Array(9).fill({ name: 'E', message: 'm' })],
    };
    const { error, ...evidence } = readEvidence(JSON.stringify({ ...written, queue: long, why: long, error: deep }))!;
    expect([evidence.queue.length, evidence.why.length, error!.name.length, error!.causes.length]).toEqual([
      4096, 4096, 256, 8,
    ]);
    expect(error!.causes.every(({ causes }) => causes.length === 0)).toBe(true);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((json) => JSON.stringify({ ...written, error: JSON.parse(json) })),
        ),
        (text) => {
          readEvidence(text);
        },
      ),
    );
  });
});

describe('plainEvidenceHeaders', () => {
  it('says the most important in plain headers', () => {
    expect(plainEvidenceHeaders(FULL)).toEqual([
      ['x-original-queue', 'orders'],
      ['x-error', 'Error: no stock'],
      ['x-attempts', '4'],
      ['x-first-seen', '2026-03-01T12:00:00.123Z'],
    ]);
  });

  it('keeps each on one bounded line without control characters', () => {
    const nasty = `${'\r\nx-injected: 1\u0000\u001b[31m\u0085\u2028\u202e\u200b\ud800'.repeat(100)}end`;
    for (const [, value] of plainEvidenceHeaders({ ...FULL, queue: nasty, why: nasty })) {
      expect(value).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
      expect(value.length).toBeLessThanOrEqual(512);
    }
  });

  it('has no empty header', () => {
    const headers = plainEvidenceHeaders({
      ...EVIDENCE,
      reason: 'crash',
      queue: '',
      why: ' \n',
      firstSeenAt: Number.NaN,
    });
    expect(headers).toEqual([
      ['x-error', 'crash'],
      ['x-attempts', '4'],
    ]);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.double(), (text, time) => {
        plainEvidenceHeaders({ ...EVIDENCE, queue: text, why: text, firstSeenAt: time });
      }),
    );
  });
});
