import type { NormalError } from './normalise.ts';
import { peek, peekItems } from './peek.ts';

/** What a rule says of an error. `rule` names it: 'http 503', 'sqlstate 40001', 'errno ECONNRESET'. */
export interface CodeVerdict {
  readonly kind: 'poison' | 'transient' | 'unknown';
  readonly rule: string;
}

/**
 * What one link of a cause chain says by its codes; `undefined` where it says nothing. `error` is `link`, normalised.
 * Specific codes go before the status: AWS answers 400 to everything from bad input to throttling.
 */
export function codeVerdict(link: unknown, error: NormalError): CodeVerdict | undefined {
  return (
    byWord(link, error) ??
    byGrpc(link, error) ??
    bySqlState(link, error) ??
    bySqlite(link, error) ??
    byRedisReply(error) ??
    byMongoLabel(link, error) ??
    byAws(link, error) ??
    byStatus(error) ??
    byMessage(error)
  );
}

// --- words: an error code or the name of an error class that means one thing wherever it stands

const TRANSIENT_WORDS = {
  errno: `ECONNRESET ECONNREFUSED ECONNABORTED ETIMEDOUT ESOCKETTIMEDOUT ENOTFOUND EAI_AGAIN EPIPE EHOSTUNREACH EHOSTDOWN
    ENETUNREACH ENETDOWN ENETRESET EADDRNOTAVAIL ENOTCONN EPROTO`,
  undici: `UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT UND_ERR_SOCKET UND_ERR_CLOSED
    UND_ERR_DESTROYED UND_ERR_ABORTED UND_ERR_BPL_MISSED_UPSTREAM`,
  node: `ERR_SOCKET_CONNECTION_TIMEOUT ERR_STREAM_PREMATURE_CLOSE ERR_NETWORK ERR_HTTP2_STREAM_ERROR ERR_HTTP2_SESSION_ERROR
    ERR_HTTP2_GOAWAY_SESSION ERR_HTTP2_INVALID_SESSION ERR_TLS_CERT_ALTNAME_INVALID ERR_TLS_HANDSHAKE_TIMEOUT
    CERT_HAS_EXPIRED CERT_NOT_YET_VALID DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN
    UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT_LOCALLY`,
  timeout: `TimeoutError AbortError ABORT_ERR ERR_CANCELED TIMEOUT ETIMEOUT RequestTimeout RequestTimeoutException
    ConnectTimeoutError`,
  aws: `Throttling ThrottlingException ThrottledException RequestThrottled RequestThrottledException
    ProvisionedThroughputExceededException RequestLimitExceeded TooManyRequestsException LimitExceededException
    BandwidthLimitExceeded EC2ThrottledException PriorRequestNotComplete SlowDown OverLimit KmsThrottled
    TransactionInProgressException InternalFailure InternalServerError ServiceUnavailable ServiceUnavailableException
    CredentialsProviderError UnrecognizedClientException InvalidClientTokenId ExpiredToken ExpiredTokenException
    AccessDenied AccessDeniedException InvalidSignatureException SignatureDoesNotMatch RequestExpired`,
  mysql: `PROTOCOL_CONNECTION_LOST PROTOCOL_SEQUENCE_TIMEOUT POOL_CLOSED POOL_ENQUEUELIMIT POOL_NOEXIST ER_CON_COUNT_ERROR
    ER_LOCK_DEADLOCK ER_LOCK_WAIT_TIMEOUT ER_SERVER_SHUTDOWN ER_ACCESS_DENIED_ERROR ER_TOO_MANY_USER_CONNECTIONS
    ER_OPTION_PREVENTS_STATEMENT ER_QUERY_TIMEOUT`,
  mssql: 'ESOCKET ECONNCLOSED ELOGIN ENOTOPEN',
  postgres: 'CONNECT_TIMEOUT CONNECTION_CLOSED CONNECTION_DESTROYED CONNECTION_ENDED CONNECTION_REFUSED',
  prisma: 'P1001 P1002 P1008 P1017 P2024 P2034',
  sequelize: `SequelizeConnectionError SequelizeConnectionRefusedError SequelizeConnectionTimedOutError
    SequelizeConnectionAcquireTimeoutError SequelizeHostNotFoundError SequelizeHostNotReachableError
    SequelizeAccessDeniedError SequelizeInvalidConnectionError SequelizeTimeoutError`,
  knex: 'KnexTimeoutError',
  mongodb: `MongoNetworkError MongoNetworkTimeoutError MongoServerSelectionError MongoWaitQueueTimeoutError
    MongoPoolClearedError MongoPoolClosedError MongoNotConnectedError MongoTopologyClosedError MongoOperationTimeoutError`,
  redis: `MaxRetriesPerRequestError ClusterAllFailedError ConnectionTimeoutError ClientClosedError ClientOfflineError
    SocketClosedUnexpectedlyError SocketTimeoutError ReconnectStrategyError DisconnectsClientError RootNodesUnavailableError`,
};

/** They convict only beside a sign of their family (`SIGNS`): anybody's own class may be called ValidationError. */
const POISON_WORDS = {
  aws: 'ValidationException ValidationError SerializationException InvalidMessageContents',
  mysql: `ER_BAD_NULL_ERROR ER_DATA_TOO_LONG ER_WARN_DATA_OUT_OF_RANGE ER_TRUNCATED_WRONG_VALUE
    ER_TRUNCATED_WRONG_VALUE_FOR_FIELD ER_CHECK_CONSTRAINT_VIOLATED ER_INVALID_JSON_TEXT`,
};

/** Properties that only errors of the family carry. */
const SIGNS = {
  aws: ['$metadata', '$fault', 'requestId'],
  mysql: ['errno', 'sqlState', 'sqlMessage'],
  sql: ['severity', 'routine', 'errno', 'sqlState', 'sqlMessage'],
} as const;

interface Word extends CodeVerdict {
  /** One of them has to be there, too; none: the word is enough. */
  readonly signs?: readonly string[];
}

const WORDS: ReadonlyMap<string, Word> = new Map([
  ...verdicts('transient', TRANSIENT_WORDS),
  ...verdicts('poison', { aws: POISON_WORDS.aws }, SIGNS.aws),
  ...verdicts('poison', { mysql: POISON_WORDS.mysql }, SIGNS.mysql),
]);

/** Sent by some servers, and kept in front of the name by the query-compatible header. */
const AWS_PREFIX = 'AWS.SimpleQueueService.';

function byWord(link: unknown, { code, name }: NormalError): CodeVerdict | undefined {
  const word = (code === undefined ? undefined : WORDS.get(bare(code))) ?? WORDS.get(bare(name));
  if (word === undefined) return undefined;
  const { signs, ...verdict } = word;
  return signs === undefined || carries(link, signs) ? verdict : undefined;
}

function carries(link: unknown, signs: readonly string[]): boolean {
  return signs.some((sign) => peek(link, sign) !== undefined);
}

function bare(word: string): string {
  return word.startsWith(AWS_PREFIX) ? word.slice(AWS_PREFIX.length) : word;
}

function verdicts(
  kind: CodeVerdict['kind'],
  families: Readonly<Record<string, string>>,
  signs?: readonly string[],
): [string, Word][] {
  const needed = signs === undefined ? {} : { signs };
  return Object.entries(families).flatMap(([family, words]) =>
    words.split(/\s+/).map((word): [string, Word] => [word, { kind, rule: `${family} ${word}`, ...needed }]),
  );
}

// --- gRPC

const GRPC: readonly (readonly [name: string, kind: CodeVerdict['kind']])[] = [
  ['OK', 'unknown'],
  ['CANCELLED', 'transient'],
  ['UNKNOWN', 'unknown'],
  ['INVALID_ARGUMENT', 'poison'],
  ['DEADLINE_EXCEEDED', 'transient'],
  ['NOT_FOUND', 'unknown'],
  ['ALREADY_EXISTS', 'unknown'],
  ['PERMISSION_DENIED', 'transient'],
  ['RESOURCE_EXHAUSTED', 'transient'],
  ['FAILED_PRECONDITION', 'unknown'],
  ['ABORTED', 'transient'],
  ['OUT_OF_RANGE', 'unknown'],
  ['UNIMPLEMENTED', 'unknown'],
  ['INTERNAL', 'transient'],
  ['UNAVAILABLE', 'transient'],
  ['DATA_LOSS', 'unknown'],
  ['UNAUTHENTICATED', 'transient'],
];

const LONGEST_GRPC_NAME = 20;
const SMALL_NUMBER = /^\d\d?$/;

const GRPC_NAMES: ReadonlyMap<string, (typeof GRPC)[number]> = new Map(GRPC.map((entry) => [entry[0], entry]));

/** Small numbers and plain words mean this only on an error that also carries gRPC's `metadata` or `details`. */
function byGrpc(link: unknown, { code }: NormalError): CodeVerdict | undefined {
  if (code === undefined || code.length > LONGEST_GRPC_NAME || !looksLikeGrpc(link)) return undefined;
  const found = GRPC_NAMES.get(code.toUpperCase()) ?? (SMALL_NUMBER.test(code) ? GRPC[Number(code)] : undefined);
  if (found === undefined) return undefined;
  const [name, kind] = found;
  return { kind, rule: `grpc ${name}` };
}

function looksLikeGrpc(link: unknown): boolean {
  const metadata = peek(link, 'metadata');
  const details = peek(link, 'details');
  return (typeof metadata === 'object' && metadata !== null) || typeof details === 'string';
}

// --- SQL

/** All classes of PostgreSQL, and no five letters of another family (EPIPE). */
const SQLSTATE = /^(?:\d[0-9A-Z]|HV|F0|P0|XX)[0-9A-Z]{3}$/;
const TRANSIENT_CLASSES = ['08', '28', '40', '53', '55', '57'];
const POISON_CLASSES = ['22', '23'];
/** A foreign key or a duplicate may be the fault of the order in which messages arrive. */
const UNCERTAIN_STATES = ['23503', '23505'];

/** Only text counts: numbers of five digits are other people's codes, and so may be a text that would convict without another sign of SQL. */
function bySqlState(link: unknown, { code }: NormalError): CodeVerdict | undefined {
  if (code?.length !== 5 || !SQLSTATE.test(code) || typeof peek(link, 'code') !== 'string') return undefined;
  const kind = sqlStateKind(code);
  return kind === 'poison' && !carries(link, SIGNS.sql) ? undefined : { kind, rule: `sqlstate ${code}` };
}

function sqlStateKind(state: string): CodeVerdict['kind'] {
  const sqlClass = state.slice(0, 2);
  if (TRANSIENT_CLASSES.includes(sqlClass)) return 'transient';
  return POISON_CLASSES.includes(sqlClass) && !UNCERTAIN_STATES.includes(state) ? 'poison' : 'unknown';
}

const TRANSIENT_SQLITE = /^SQLITE_(?:BUSY|LOCKED|PROTOCOL|FULL|IOERR|CANTOPEN|INTERRUPT|NOMEM)(?:_|$)/;
const POISON_SQLITE = /^SQLITE_(?:CONSTRAINT_(?:NOTNULL|CHECK|DATATYPE)|MISMATCH|TOOBIG)$/;

/** Of `errcode` as `node:sqlite` gives it: extended constraint codes whole, of the others the primary code. */
const SQLITE_NUMBERS: ReadonlyMap<number, string> = new Map([
  [5, 'SQLITE_BUSY'],
  [6, 'SQLITE_LOCKED'],
  [7, 'SQLITE_NOMEM'],
  [9, 'SQLITE_INTERRUPT'],
  [10, 'SQLITE_IOERR'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [15, 'SQLITE_PROTOCOL'],
  [18, 'SQLITE_TOOBIG'],
  [19, 'SQLITE_CONSTRAINT'],
  [20, 'SQLITE_MISMATCH'],
  [275, 'SQLITE_CONSTRAINT_CHECK'],
  [787, 'SQLITE_CONSTRAINT_FOREIGNKEY'],
  [1299, 'SQLITE_CONSTRAINT_NOTNULL'],
  [1555, 'SQLITE_CONSTRAINT_PRIMARYKEY'],
  [2067, 'SQLITE_CONSTRAINT_UNIQUE'],
  [3091, 'SQLITE_CONSTRAINT_DATATYPE'],
]);

function bySqlite(link: unknown, { code }: NormalError): CodeVerdict | undefined {
  const name = code === 'ERR_SQLITE_ERROR' ? sqliteName(peek(link, 'errcode')) : code;
  if (name === undefined || !name.startsWith('SQLITE_')) return undefined;
  const kind = TRANSIENT_SQLITE.test(name) ? 'transient' : POISON_SQLITE.test(name) ? 'poison' : 'unknown';
  return { kind, rule: `sqlite ${name}` };
}

function sqliteName(errcode: unknown): string | undefined {
  if (typeof errcode !== 'number') return undefined;
  return SQLITE_NUMBERS.get(errcode) ?? SQLITE_NUMBERS.get(errcode & 0xff);
}

// --- Redis and MongoDB

const REDIS_REPLY_CLASSES = ['ReplyError', 'ErrorReply', 'SimpleError'];
const REDIS_REPLY =
  /^(?:LOADING|BUSY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|READONLY|OOM|MISCONF|NOREPLICAS|NOAUTH|WRONGPASS)(?= )/;

function byRedisReply({ name, message }: NormalError): CodeVerdict | undefined {
  if (!REDIS_REPLY_CLASSES.includes(name)) return undefined;
  const [word] = REDIS_REPLY.exec(message) ?? [];
  return word === undefined ? undefined : { kind: 'transient', rule: `redis ${word}` };
}

const MONGO_LABELS = ['TransientTransactionError', 'RetryableWriteError', 'SystemOverloadedError'];

function byMongoLabel(link: unknown, { name }: NormalError): CodeVerdict | undefined {
  if (!name.startsWith('Mongo')) return undefined;
  const label = peekItems(peek(link, 'errorLabels'), 8).find((found) => MONGO_LABELS.includes(found as string));
  return label === undefined ? undefined : { kind: 'transient', rule: `mongodb ${label}` };
}

// --- HTTP

/** AWS says 400 of an absent table or a lost race as well, so only its names (above) can convict. */
function byAws(link: unknown, { name, status }: NormalError): CodeVerdict | undefined {
  if (status !== 400 || peek(link, '$metadata') === undefined) return undefined;
  return { kind: 'unknown', rule: `aws ${name}` };
}

const POISON_STATUSES = [400, 410, 422];
const TRANSIENT_STATUSES = [401, 403, 408, 425, 429];

function byStatus({ status }: NormalError): CodeVerdict | undefined {
  if (status === undefined) return undefined;
  return { kind: statusKind(status), rule: `http ${status}` };
}

function statusKind(status: number): CodeVerdict['kind'] {
  if (status >= 500 || TRANSIENT_STATUSES.includes(status)) return 'transient';
  return POISON_STATUSES.includes(status) ? 'poison' : 'unknown';
}

// --- clients that say it in words only

const TRANSIENT_MESSAGES: ReadonlyMap<string, string> = new Map([
  ['timeout exceeded when trying to connect', 'pg pool timeout'],
  ['Connection terminated unexpectedly', 'pg connection lost'],
  ['Connection terminated', 'pg connection lost'],
  ['Connection terminated due to connection timeout', 'pg connection timeout'],
  ['Client has encountered a connection error and is not queryable', 'pg connection lost'],
  ['Query read timeout', 'pg query timeout'],
  ['Connection is closed.', 'redis connection closed'],
  ['socket hang up', 'socket hang up'],
]);

function byMessage({ message }: NormalError): CodeVerdict | undefined {
  const rule = TRANSIENT_MESSAGES.get(message);
  return rule === undefined ? undefined : { kind: 'transient', rule };
}
