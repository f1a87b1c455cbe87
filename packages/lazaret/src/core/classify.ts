import { causeChain } from './cause-chain.ts';
import { type CodeVerdict, codeVerdict } from './classify-codes.ts';
import { clip, oneLine } from './clip.ts';
import type { Reason } from './evidence.ts';
import { type Brand, brandOf } from './failures.ts';
import { type NormalError, normaliseChain } from './normalise.ts';
import type { Failure } from './outcome.ts';
import { peek } from './peek.ts';
import { clampRetryAfter, retryAfterOf } from './retry-after.ts';

/** What a user's `classify` may answer; `undefined` leaves the error to the rules. */
export type UserVerdict =
  | Failure['kind']
  | {
      readonly kind: Failure['kind'];
      /** Clamped to 0 … 24 h. */
      readonly retryAfterMs?: number;
      readonly dependency?: string;
      /** For `explain` and the evidence. */
      readonly why?: string;
    };

/** A class of errors, whatever its constructor takes. */
export type ErrorClass = abstract new (...args: never) => unknown;

export interface ClassifyRules {
  /** Asked first. One that throws or answers anything else counts as silent, and `Failure.rule` says so. None by default. */
  readonly classify?: ((error: unknown) => UserVerdict | undefined) | undefined;
  /** Classes whose errors can never succeed: quarantined on the first attempt. None by default. */
  readonly poison?: readonly ErrorClass[] | undefined;
  /** Classes whose errors are a dependency's doing: retried. None by default. */
  readonly transient?: readonly ErrorClass[] | undefined;
}

interface Verdict extends CodeVerdict {
  /** 'exhausted' for what is retried, 'poison' for poison, unless it says better. */
  readonly reason?: Reason;
  readonly retryAfterMs?: number | undefined;
  readonly dependency?: string | undefined;
}

const UNMATCHED: Verdict = { kind: 'unknown', rule: 'unmatched' };
/** Of a proxy's HTML page as often as of a bad body; `msg.json()` throws a DecodeError instead. */
const SYNTAX_ERROR: Verdict = { kind: 'unknown', rule: 'SyntaxError' };

const LONGEST_WORD = 256;

/**
 * What a thrown value says about its message. First match wins: the user's `classify`, Lazaret's own errors, declared
 * classes, codes; in each of them the link of the cause chain that is nearest to what was thrown.
 * `now` (epoch milliseconds) is what a `Retry-After` date counts from. Never throws, whatever was thrown.
 */
export function classify(thrown: unknown, rules: ClassifyRules, now: number): Failure {
  const chain = causeChain(thrown);
  const error = normaliseChain(chain);
  const answer = userAnswer(rules.classify, thrown);
  const verdict =
    answer.verdict ??
    firstOf(chain, brandVerdict) ??
    declaredVerdict(chain, rules) ??
    codesOf(chain, error) ??
    unmatched(error);
  return failure(verdict, answer.complaint, error, chain, now);
}

function failure(
  verdict: Verdict,
  complaint: string | undefined,
  error: NormalError,
  chain: readonly unknown[],
  now: number,
): Failure {
  const { kind, rule, dependency } = verdict;
  const retryAfterMs =
    kind === 'transient' ? (verdict.retryAfterMs ?? firstOf(chain, (link) => retryAfterOf(link, now))) : undefined;
  return {
    kind,
    reason: verdict.reason ?? (kind === 'poison' ? 'poison' : 'exhausted'),
    rule: complaint === undefined ? rule : `${rule} (${complaint})`,
    ...(retryAfterMs === undefined ? undefined : { retryAfterMs }),
    ...(dependency === undefined ? undefined : { dependency }),
    error,
  };
}

function firstOf<T>(chain: readonly unknown[], said: (link: unknown) => T | undefined): T | undefined {
  for (const link of chain) {
    const answer = said(link);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

// --- the user's own function

interface Answer {
  readonly verdict?: Verdict;
  readonly complaint?: string;
}

const NO_ANSWER: Answer = {};

function userAnswer(classify: ClassifyRules['classify'], thrown: unknown): Answer {
  if (classify === undefined) return NO_ANSWER;
  let said: unknown;
  try {
    said = classify(thrown);
  } catch (error) {
    return { complaint: `classify threw ${oneLine(normaliseChain([error]).message, 100)}` };
  }
  if (said === undefined) return NO_ANSWER;
  const kind = kindOf(typeof said === 'string' ? said : peek(said, 'kind'));
  return kind === undefined ? { complaint: nonsense(said) } : { verdict: userVerdict(kind, said) };
}

function nonsense(said: unknown): string {
  if (!isInstance(said, Promise)) return 'classify returned no verdict';
  try {
    // Nobody else will look at it, and an unseen rejection ends the process.
    Promise.prototype.then.call(said, undefined, () => undefined);
  } catch {
    return 'classify returned no verdict';
  }
  return 'classify returned a promise';
}

function userVerdict(kind: Failure['kind'], said: unknown): Verdict {
  const why = peek(said, 'why');
  return {
    kind,
    rule: typeof why === 'string' && why !== '' ? `user: ${oneLine(why, LONGEST_WORD)}` : 'user',
    retryAfterMs: clampRetryAfter(peek(said, 'retryAfterMs')),
    dependency: dependencyOf(said),
  };
}

function kindOf(value: unknown): Failure['kind'] | undefined {
  return value === 'poison' || value === 'transient' || value === 'unknown' ? value : undefined;
}

function dependencyOf(value: unknown): string | undefined {
  const dependency = peek(value, 'dependency');
  return typeof dependency === 'string' && dependency !== '' ? clip(dependency, LONGEST_WORD) : undefined;
}

// --- Lazaret's own errors, and declared classes

const BRANDED: Readonly<Record<Brand, Verdict>> = {
  poison: { kind: 'poison', rule: 'Poison' },
  decode: { kind: 'poison', rule: 'DecodeError', reason: 'undecodable' },
  schema: { kind: 'poison', rule: 'SchemaError', reason: 'schema' },
  transient: { kind: 'transient', rule: 'Transient' },
};

function brandVerdict(link: unknown): Verdict | undefined {
  const brand = brandOf(link);
  if (brand === undefined) return undefined;
  return brand === 'transient' ? { ...BRANDED.transient, dependency: dependencyOf(link) } : BRANDED[brand];
}

function declaredVerdict(
  chain: readonly unknown[],
  { poison = [], transient = [] }: ClassifyRules,
): Verdict | undefined {
  if (poison.length === 0 && transient.length === 0) return undefined;
  return firstOf(chain, (link) => declaredAs('poison', poison, link) ?? declaredAs('transient', transient, link));
}

function declaredAs(kind: Failure['kind'], classes: readonly unknown[], link: unknown): Verdict | undefined {
  const declared = classes.find((candidate) => isInstance(link, candidate));
  if (declared === undefined) return undefined;
  const name = peek(declared, 'name');
  return { kind, rule: `declared ${typeof name === 'string' ? clip(name, LONGEST_WORD) : 'class'}` };
}

/** `instanceof`, for values whose prototype cannot be asked (a revoked proxy) and for classes that are none. */
function isInstance(value: unknown, of: unknown): boolean {
  try {
    return value instanceof (of as abstract new () => unknown);
  } catch {
    return false;
  }
}

// --- codes

/** `error` is `chain`, normalised link by link. */
function codesOf(chain: readonly unknown[], error: NormalError): Verdict | undefined {
  return codeVerdict(chain[0], error) ?? causesVerdict(chain, error.causes);
}

function causesVerdict(chain: readonly unknown[], causes: readonly NormalError[]): Verdict | undefined {
  for (const [at, cause] of causes.entries()) {
    const verdict = codeVerdict(chain[at + 1], cause);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

function unmatched(error: NormalError): Verdict {
  return error.name === 'SyntaxError' ? SYNTAX_ERROR : UNMATCHED;
}
