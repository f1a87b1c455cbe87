import { describe, expect, it } from 'vitest';
import type { Handler } from '../../src/index.ts';
import { fakeContext, received } from '../../src/testing/index.ts';

const handler: Handler<{ customer: string }> = (message, ctx) => {
  if (message.json().customer === '') return ctx.skip('nobody to charge');
  if (message.header('tenant') === undefined) return ctx.retryIn('5m', 'no tenant yet');
  return ctx.extend('2m');
};

describe('a handler in a test', () => {
  it('reads what the test received, and its words can be looked at', () => {
    const ctx = fakeContext();
    handler(received({ body: { customer: '' } }), ctx);
    expect(ctx.said).toEqual({ kind: 'skip', why: 'nobody to charge' });
  });

  it('gets the headers of the message', async () => {
    const without = fakeContext();
    handler(received({ body: { customer: 'c' } }), without);
    expect(without.said).toMatchObject({ kind: 'retryIn', delayMs: 300_000 });
    const ctx = fakeContext();
    expect(await handler(received({ body: { customer: 'c' }, headers: { tenant: 't' } }), ctx)).toBe(true);
    expect(ctx.said).toBeUndefined();
    expect(
      await handler(received({ body: { customer: 'c' }, headers: { tenant: 't' } }), fakeContext({ extends: false })),
    ).toBe(false);
  });

  it('finds its context as it was asked for', () => {
    expect(fakeContext()).toMatchObject({
      queue: 'test',
      attempt: 1,
      strikes: 0,
      firstSeenAt: 0,
      idempotencyKey: 'm-1',
    });
    expect(fakeContext({ queue: 'orders', id: 'x', attempt: 3, strikes: 2, firstSeenAt: 5 })).toMatchObject({
      queue: 'orders',
      attempt: 3,
      strikes: 2,
      firstSeenAt: 5,
      idempotencyKey: 'x',
    });
  });

  it('is refused a second word, and can be aborted', () => {
    const ctx = fakeContext();
    ctx.skip('first');
    expect(() => ctx.quarantine('second')).toThrow(expect.objectContaining({ code: 'LZ1204' }));
    expect(ctx.signal.aborted).toBe(false);
    ctx.abort(new Error('lost'));
    expect(ctx.signal.reason).toEqual(new Error('lost'));
  });

  it('does not see how a schema replaces a value', () => {
    const message = received({ body: null, id: 'm', key: 'k' });
    expect(message).toMatchObject({ id: 'm', key: 'k', body: null });
    expect(message.text()).toBe('');
    expect(message.json()).toBeNull();
    // @ts-expect-error: not for handlers
    expect(message.replace).toBeDefined();
  });

  it('cannot receive what cannot be sent', () => {
    expect(() => received({ body: undefined })).toThrow(expect.objectContaining({ code: 'LZ1002' }));
  });
});
