import { within } from '../../core/within.ts';
import type { System } from '../../ports/system.ts';
import type { Client, JetStreamManager, NatsConnection } from './client.ts';
import type { NatsSettings } from './options.ts';
import { connectError, requestError, tooOld, unanswered } from './refusals.ts';

const LEAST = '2.9.0';
/** n.b. the client's own default of two minutes would take four to notice that nobody is there. */
const PING_EVERY_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
/** n.b. connecting again resolves names anew, and a pause that is the same for all brings all at once. */
const SPREAD_MS = 200;

/** A connection that comes back by itself, however long that takes. */
export interface Line {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
}

/** Rejects with one error that says what to do, within a few seconds, where the first connection cannot be made. */
export async function dial(client: Client, settings: NatsSettings, system: System): Promise<Line> {
  const { servers, user, password, isSecure, connectTimeoutMs, answerTimeoutMs } = settings;
  const where = servers.join(', ');
  const login = user === '' ? {} : password === '' ? { token: user } : { user, pass: password };
  const dialling = client.connect({
    name: 'lazaret',
    ...login,
    ...(isSecure ? { tls: {} } : {}),
    ...settings.client,
    servers: [...servers],
    timeout: connectTimeoutMs,
    pingInterval: PING_EVERY_MS,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    // n.b. a server whose logins are being reloaded refuses for a moment.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: FIRST_PAUSE_MS,
    reconnectDelayHandler: () => Math.min(FIRST_PAUSE_MS + SPREAD_MS * system.random(), LONGEST_PAUSE_MS),
  });
  let connection: NatsConnection;
  try {
    const late = () => new Error(`no answer within ${connectTimeoutMs} ms`);
    connection = await within(system, connectTimeoutMs + 500, dialling, late);
  } catch (error) {
    // n.b. one that still opens belongs to nobody.
    dialling.then((late) => late.close()).catch(() => undefined);
    throw connectError(error, where, user);
  }
  try {
    if (isOlder(connection.info?.version ?? '', LEAST)) throw tooOld(connection.info?.version ?? 'unknown', LEAST);
    const manager = await client.jetstreamManager(connection, { checkAPI: false, timeout: answerTimeoutMs });
    await within(system, answerTimeoutMs, manager.getAccountInfo(), () => unanswered('a question for its account'));
    return { connection, manager };
  } catch (error) {
    await connection.close();
    throw requestError(error, 'a question for its account');
  }
}

function isOlder(version: string, least: string): boolean {
  const [here, there] = [version, least].map((text) =>
    text.split(/[.-]/, 3).map((part) => Number.parseInt(part, 10) || 0),
  );
  for (let i = 0; i < 3; i++) {
    if ((here![i] ?? 0) !== there![i]) return (here![i] ?? 0) < there![i]!;
  }
  return false;
}
