import { pause } from '../../core/within.ts';
import type { ProvisionPlan, ProvisionStep, QueueWanted } from '../../ports/broker.ts';
import type { System } from '../../ports/system.ts';
import type { AmqpConnection } from './amqplib.ts';
import { onChannel } from './channel.ts';
import { codeOf, differenceIn, requestError } from './refusals.ts';
import type { Declared } from './topology.ts';

/** What is to be there, and what the server has of it. */
export interface Survey {
  readonly missing: readonly Declared[];
  readonly conflicts: readonly ProvisionStep[];
}

/** Which of `wanted` are missing, whatever the others look like. */
export async function missingOf(
  system: System,
  connection: AmqpConnection,
  wanted: readonly Declared[],
): Promise<readonly Declared[]> {
  const there = await Promise.all(wanted.map(({ name }) => exists(system, connection, name)));
  return wanted.filter((_, i) => !there[i]);
}

/** Creates nothing. Of a queue that differs the server names one difference, so the plan names one. */
export async function survey(system: System, connection: AmqpConnection, wanted: readonly Declared[]): Promise<Survey> {
  const missing = await missingOf(system, connection, wanted);
  const found = wanted.filter((queue) => !missing.includes(queue));
  const differences = await Promise.all(found.map((queue) => differenceOf(system, connection, queue)));
  return { missing, conflicts: differences.filter((step) => step !== undefined) };
}

/** Resolves when what was created is safe to publish to. */
export async function create(
  system: System,
  connection: AmqpConnection,
  missing: readonly Declared[],
  settleTimeMs: number,
): Promise<void> {
  if (missing.length === 0) return;
  await Promise.all(missing.map((queue) => declare(system, connection, queue)));
  // n.b. what a quorum queue confirms in its first second is gone when its node dies.
  await pause(system, settleTimeMs);
}

export function planOf(
  { missing, conflicts }: Survey,
  { ordered }: QueueWanted,
  apply: () => Promise<void>,
): ProvisionPlan {
  return {
    steps: [
      ...missing.map(({ name, why }): ProvisionStep => ({ action: 'create', what: name, why })),
      ...conflicts,
      ...(ordered === true ? [UNORDERED] : []),
    ],
    apply,
  };
}

const UNORDERED: ProvisionStep = {
  action: 'unsupported',
  what: 'order by key',
  why: 'a retry comes back behind its successors, and nobody can look whether a message of the key lies among the dead letters',
};

async function exists(system: System, connection: AmqpConnection, name: string): Promise<boolean> {
  try {
    await onChannel(system, connection, (channel) => channel.checkQueue(name));
    return true;
  } catch (error) {
    // n.b. 405: somebody else has it for himself, so it is there.
    if (codeOf(error) === 404) return false;
    if (codeOf(error) === 405) return true;
    throw requestError(error, name, `looking at queue '${name}'`);
  }
}

/** Declaring what exists changes nothing: it is equal, or refused. */
async function differenceOf(
  system: System,
  connection: AmqpConnection,
  { name, declaration }: Declared,
): Promise<ProvisionStep | undefined> {
  try {
    await onChannel(system, connection, (channel) => channel.assertQueue(name, declaration));
    return undefined;
  } catch (error) {
    if (codeOf(error) !== 406) throw requestError(error, name, `comparing queue '${name}'`);
    return { action: 'conflict', what: name, why: differenceIn(error) };
  }
}

async function declare(system: System, connection: AmqpConnection, { name, declaration }: Declared): Promise<void> {
  try {
    await onChannel(system, connection, (channel) => channel.assertQueue(name, declaration));
  } catch (error) {
    throw requestError(error, name, `creating queue '${name}'`);
  }
}
