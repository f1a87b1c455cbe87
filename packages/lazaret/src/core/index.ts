// Values and pure functions: no I/O, no clock, no chance.

export { type Backoff, backoffDelay, type DelayWindow, delayWindow, type Jitter } from './backoff.ts';
export { type Batch, type BatchOptions, batchOptions } from './batch-options.ts';
export {
  type BreakerOrderOptions,
  breakerOrder,
  type EndOptions,
  type OrderOptions,
  pauseOrder,
  resumeOrder,
} from './by-hand.ts';
export { type ClassifyRules, classify, type ErrorClass, type UserVerdict } from './classify.ts';
export { type Counting, countingSentence } from './counting-sentence.ts';
export { decide, type Facts, precheck, type Sighting } from './decide.ts';
export { DEFAULTS, PRESETS, type PresetName, STRIKES } from './defaults.ts';
export { didYouMean } from './did-you-mean.ts';
export { examine, type Finding, RULE_IDS, type RuleId, type Surroundings } from './doctor-rules.ts';
export { draw } from './draw.ts';
export { formatDuration, parseDuration, parsePercent, parseRate, type Rate } from './duration.ts';
export { ERRORS, type ErrorCode, isLazaretError, LazaretError } from './errors.ts';
export {
  type Evidence,
  type EvidenceHeader,
  evidenceHeader,
  plainEvidenceHeaders,
  type Reason,
  readEvidence,
} from './evidence.ts';
export {
  DecodeError,
  isDecodeError,
  isPoison,
  isSchemaError,
  isTransient,
  Poison,
  SchemaError,
  type SchemaIssue,
  Transient,
  type TransientOptions,
} from './failures.ts';
export { explainFingerprint, type Failing, type FingerprintRecipe, fingerprint } from './fingerprint.ts';
export { EVIDENCE_HEADER, HEADER, readAttempt, readTime } from './headers.ts';
export {
  beginStart,
  type Ending,
  endStart,
  type History,
  type JournalEnd,
  type JournalRecord,
  type JournalStart,
  type Sight,
  sightOf,
} from './journal.ts';
export {
  type HeaderList,
  type HeaderValue,
  headerText,
  type Message,
  type Native,
  NO_HEADERS,
  withHeader,
  withoutHeaders,
} from './message.ts';
export { type NormalError, normalise } from './normalise.ts';
export {
  type BackoffOption,
  type BreakerOptions,
  type ConsumeOptions,
  consumerPolicy,
  type ExponentialOptions,
  type IsolateOptions,
  type JitterOption,
  type ParkingOptions,
  type StormOptions,
} from './options.ts';
export { consumerOrigins, type Origin } from './origins.ts';
export type { Decision, Failure, Outcome } from './outcome.ts';
export { due, place, type Terms } from './placement.ts';
export type { ConsumerPolicy, Policy, StormPolicy } from './policy.ts';
export type { GivenIssue, PathSegment, Schema, SchemaResult } from './schema.ts';
export { formatSize, parseSize } from './size.ts';
export {
  type Chronicle,
  chronicleKey,
  type Entry,
  readChronicle,
  SILENT_MS,
  type Standing,
} from './storm/chronicle.ts';
export { type Command, Gate, type GateOptions, type Passage } from './storm/gate.ts';
export { MECHANISMS, type Mechanism, STORM, type StormNumbers, type StormOverrides } from './storm/numbers.ts';
export {
  lifted,
  ordered,
  ordersKey,
  readOrders,
  type StandingOrder,
  slotOf,
  type Want,
} from './storm/standing-orders.ts';
export { tempered, type Verdict } from './storm/verdict.ts';
export type { BreakerView, GateView, ScopeView } from './storm/view.ts';
export {
  renderOrigins,
  renderTimetable,
  type Timetable,
  type TimetableFacts,
  type TimetableRow,
  timetable,
} from './timetable.ts';
