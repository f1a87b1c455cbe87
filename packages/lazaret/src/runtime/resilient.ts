import { decide, precheck } from '../core/decide.ts';
import { draw } from '../core/draw.ts';
import type { Evidence, Reason } from '../core/evidence.ts';
import type { Message } from '../core/message.ts';
import { NO_HEADERS } from '../core/message.ts';
import { optionError, shown } from '../core/option-error.ts';
import { givenOptions } from '../core/option-values.ts';
import type { ConsumeOptions } from '../core/options.ts';
import { consumerPolicy } from '../core/options.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Schema } from '../core/schema.ts';
import type { Delivery } from '../ports/broker.ts';
import type { System } from '../ports/system.ts';
import { classifierOf } from './classifier.ts';
import type { Keeper } from './context.ts';
import { deadlineError } from './deadline-error.ts';
import { evidenceOf, whyOf } from './evidence-of.ts';
import type { Handler } from './inline.ts';
import { inline } from './inline.ts';
import { Run } from './run.ts';

/** A message as a loop of the user's own received it. */
export type LoopMessage = Omit<Message, 'headers' | 'body'> & {
  /** Text is taken as UTF-8: many clients hand out bodies so. */
  readonly body: Uint8Array | string | null;
  readonly headers?: Message['headers'];
  readonly queue?: string;
  /** Charged failures + 1; 1 by default. */
  readonly attempt?: number;
  /** Starts without outcome, where the loop knows; 0 by default. */
  readonly strikes?: number;
  /** Epoch milliseconds; now by default. */
  readonly firstSeenAt?: number;
};

/** What the loop does with its message. */
export type Verdict =
  | { readonly verb: 'ack' }
  /** Give it back for `delayMs`; it comes back as `attempt`. */
  | { readonly verb: 'retry'; readonly delayMs: number; readonly attempt: number; readonly why: string }
  /** Into the dead-letter queue, with this evidence; acknowledge only when that is confirmed. */
  | { readonly verb: 'quarantine'; readonly reason: Reason; readonly evidence: Evidence };

/** Options that need a runtime around them do not exist here. */
export type LoopOptions<T> = Pick<
  ConsumeOptions,
  'maxAttempts' | 'backoff' | 'jitter' | 'timeout' | 'maxBody' | 'classify' | 'poison' | 'transient' | 'version'
> & { readonly schema?: Schema<T> };

const NAMES: Readonly<Record<keyof LoopOptions<unknown>, true>> = {
  maxAttempts: true,
  backoff: true,
  jitter: true,
  timeout: true,
  maxBody: true,
  classify: true,
  poison: true,
  transient: true,
  version: true,
  schema: true,
};

/**
 * The decisions of a consumer inside a loop the user already has: runs `handler` and answers what to do with the message. Never rejects.
 * The loop keeps the lease, the attempt and the order of writes; `ctx.extend` answers `false`.
 */
export function resilientOn<T>(
  system: System,
  handler: Handler<T>,
  options: LoopOptions<T>,
): (message: LoopMessage) => Promise<Verdict> {
  givenOptions(options, Object.keys(NAMES), 'resilient');
  if (typeof handler !== 'function') {
    throw optionError(
      'LZ1002',
      'resilient',
      `the handler is ${shown(handler)}.`,
      'Give a function as the first argument.',
    );
  }
  const policy = consumerPolicy(options);
  const fail = classifierOf(options, system);
  const performer = inline(handler, fail, options.schema);

  const performInTime = async (run: Run): Promise<Outcome> => {
    let cancel = () => {};
    const late = new Promise<Outcome>((resolve) => {
      cancel = system.after(policy.timeoutMs, () => {
        const error = deadlineError(policy.timeoutMs);
        run.abort(error);
        resolve({ kind: 'timeout', failure: fail(error) });
      });
    });
    const outcome = await Promise.race([performer.perform(run, NO_KEEPER), late]);
    cancel();
    return outcome;
  };

  return async (message) => {
    const run = new Run(deliveryOf(message, system), system.monotonic());
    const { attempt, strikes = 0 } = run.delivery;
    const refused = precheck(policy, {
      strikes,
      bodyBytes: run.delivery.message.body?.byteLength ?? 0,
      maxBodyBytes: policy.maxBodyBytes,
      blocked: false,
    });
    const outcome = refused ?? (await performInTime(run));
    const decision = decide(policy, outcome, {
      attempt,
      charged: true,
      draw: (n) => draw(run.drawId(system), n),
    });
    if (decision.verb === 'ack') return decision;
    if (decision.verb === 'quarantine') {
      return { ...decision, evidence: evidenceOf(run, outcome, decision.reason, system.now(), policy.version) };
    }
    return { verb: 'retry', delayMs: decision.delayMs, attempt: attempt + 1, why: whyOf(outcome) };
  };
}

const NO_KEEPER: Keeper = { prolong: async () => false, need: () => undefined };

function deliveryOf(message: LoopMessage, system: System): Delivery {
  const {
    queue = 'loop',
    attempt = 1,
    strikes = 0,
    firstSeenAt = system.now(),
    headers = NO_HEADERS,
    body: given,
    ...rest
  } = message;
  const body = typeof given === 'string' ? new TextEncoder().encode(given) : given;
  return { message: { ...rest, body, headers }, source: { queue }, receipt: undefined, attempt, strikes, firstSeenAt };
}
