import { MAX_CAUSES } from './cause-chain.ts';
import { clip } from './clip.ts';
import type { Evidence, Reason } from './evidence.ts';
import { ERROR_LIMIT, type NormalError } from './normalise.ts';

/** Room for what drivers add beside the evidence. */
const LONGEST_READ = 64 * 1024;
/** For each text that has no limit of its own. */
const LONGEST_TEXT = 4096;

const REASONS: Readonly<Record<Reason, true>> = {
  poison: true,
  exhausted: true,
  'handler-timeout': true,
  crash: true,
  oversize: true,
  undecodable: true,
  schema: true,
  'key-payload-mismatch': true,
  'blocked-key': true,
  'destination-missing': true,
  expired: true,
  maxlen: true,
  manual: true,
};

/**
 * Evidence as `evidenceHeader` wrote it, or as somebody forged it: what is missing of the required, or has a wrong type, makes
 * all of it unreadable (`undefined`); unknown fields are dropped and texts cut to their limits. What the minimal form leaves
 * out comes back as `''` or 0. Never throws.
 */
export function readEvidence(text: string): Evidence | undefined {
  const fields = parseObject(text);
  if (fields === undefined) return undefined;
  const { reason, queue = '', attempts, strikes = 0, firstSeenAt, deadAt, fingerprint, why = '' } = fields;
  const { error, position, deliveries, version } = fields;
  if (!isReason(reason) || !isCount(attempts) || !isCount(strikes) || !isTime(firstSeenAt) || !isTime(deadAt))
    return undefined;
  if (!isText(queue) || !isText(fingerprint) || !isText(why)) return undefined;
  if (!isTextOrAbsent(position) || !isTextOrAbsent(version) || !(deliveries === undefined || isCount(deliveries)))
    return undefined;
  const known = error === undefined ? undefined : readError(error, readCauses);
  if (error !== undefined && known === undefined) return undefined;
  return {
    reason,
    queue: clip(queue, LONGEST_TEXT),
    attempts,
    strikes,
    firstSeenAt,
    deadAt,
    fingerprint: clip(fingerprint, LONGEST_TEXT),
    why: clip(why, LONGEST_TEXT),
    ...(known === undefined ? undefined : { error: known }),
    ...(position === undefined ? undefined : { position: clip(position, LONGEST_TEXT) }),
    ...(deliveries === undefined ? undefined : { deliveries }),
    ...(version === undefined ? undefined : { version: clip(version, LONGEST_TEXT) }),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string): Fields | undefined {
  if (text.length > LONGEST_READ) return undefined;
  try {
    return asFields(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function readError(
  value: unknown,
  readBelow: (causes: unknown) => readonly NormalError[] | undefined,
): NormalError | undefined {
  const { name, message, stack, code, status, causes } = asFields(value) ?? {};
  if (!isText(name) || !isText(message) || !isTextOrAbsent(stack) || !isTextOrAbsent(code)) return undefined;
  const below = readBelow(causes ?? []);
  if (below === undefined || !(status === undefined || isCount(status))) return undefined;
  return {
    name: clip(name, ERROR_LIMIT.name),
    message: clip(message, ERROR_LIMIT.message),
    ...(stack === undefined ? undefined : { stack: clip(stack, ERROR_LIMIT.stack) }),
    ...(code === undefined ? undefined : { code: clip(code, ERROR_LIMIT.code) }),
    ...(status === undefined ? undefined : { status }),
    causes: below,
  };
}

const NONE_BELOW: readonly NormalError[] = [];

/** Causes carry none of their own. */
function readCauses(value: unknown): readonly NormalError[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const causes: NormalError[] = [];
  for (const item of value.slice(0, MAX_CAUSES)) {
    const cause = readError(item, () => NONE_BELOW);
    if (cause === undefined) return undefined;
    causes.push(cause);
  }
  return causes;
}

function isReason(value: unknown): value is Reason {
  return isText(value) && Object.hasOwn(REASONS, value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || isText(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

const LATEST_TIME = 8.64e15;

/** Epoch milliseconds that a `Date` can hold. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LATEST_TIME;
}
