import { describe, expect, it } from 'vitest';
import type { KafkaRecord } from '../../src/drivers/kafka/client.ts';
import { readMetadata } from '../../src/drivers/kafka/marks.ts';
import { type Entry, OwnedPartition } from '../../src/drivers/kafka/owned-partition.ts';

const record = (offset: number, key?: string): KafkaRecord => ({
  topic: 'orders',
  partition: 0,
  offset,
  timestamp: 1,
  key: key === undefined ? null : Buffer.from(key),
  value: null,
  headers: [],
});

function owned(committed: { offset?: number; metadata?: string } = {}, self = 'me', ordered = false): OwnedPartition {
  const { offset, metadata } = committed;
  return new OwnedPartition({ topic: 'orders', partition: 0, offset, metadata }, self, ordered);
}

/** Reads and hands out. */
function take(partition: OwnedPartition, offset: number, key?: string): Entry {
  const entry = partition.read(record(offset, key), undefined, 0)!;
  entry.state = 'out';
  return entry;
}

describe('a partition while it is ours', () => {
  it('commits the first offset that is not done, whatever the order in which records end', () => {
    const partition = owned();
    const [a, b, c] = [take(partition, 0), take(partition, 1), take(partition, 2)];
    partition.finish(c, 0);
    partition.finish(b, 0);
    expect(partition.toCommit()?.offset).toBe(0);
    partition.finish(a, 0);
    expect(partition.toCommit()?.offset).toBe(3);
  });

  it('commits nothing before it has read or been told anything', () => {
    expect(owned().toCommit()).toBeUndefined();
    expect(owned({ offset: 7 }).toCommit()?.offset).toBe(7);
  });

  it('does not run again what was done above the watermark of the owner before', () => {
    const first = owned();
    take(first, 0);
    first.finish(take(first, 1), 0);
    const next = owned(first.toCommit(), 'other');
    expect(next.read(record(0), undefined, 0)).toBeDefined();
    expect(next.read(record(1), undefined, 0)).toBeUndefined();
    expect(next.read(record(2), undefined, 0)).toBeDefined();
  });

  it('carries on the marks of records that it has not read yet', () => {
    const first = owned();
    take(first, 0);
    first.begin(take(first, 1));
    const second = owned(first.toCommit(), 'second');
    second.finish(take(second, 0), 0);
    const { marks } = readMetadata('third', 1, second.toCommit()?.metadata);
    expect(marks.get(1)?.crashes).toBe(1);
  });

  it('counts a start whose owner vanished, and none that was revoked in order', () => {
    const first = owned();
    first.begin(take(first, 0));
    const crashed = first.toCommit();
    expect(owned(crashed, 'other').read(record(0), undefined, 0)?.crashes).toBe(1);
    expect(owned(first.giveUp().position, 'other').read(record(0), undefined, 0)?.crashes).toBe(0);
  });

  it('takes the crashes from a failure that was charged, and remembers the charge', () => {
    const first = owned();
    first.begin(take(first, 0));
    const second = owned(first.toCommit(), 'second');
    const entry = take(second, 0);
    second.hold(entry, 500, 1);
    const again = owned(second.toCommit(), 'third');
    expect(again.read(record(0), undefined, 0)).toBeUndefined();
    expect(again.nextDueAt()).toBe(500);
    expect(again.ripe(499)).toBeUndefined();
    expect(again.ripe(500)).toMatchObject({ crashes: 0, charged: 1 });
  });

  it('brings what is due in the order of its time, not of its place', () => {
    const partition = owned();
    for (const [offset, dueAt] of [
      [0, 300],
      [1, 100],
      [2, 200],
    ] as const)
      partition.read(record(offset), dueAt, 0);
    expect([partition.ripe(300), partition.ripe(300), partition.ripe(300)].map((entry) => entry?.offset)).toEqual([
      1, 2, 0,
    ]);
  });

  it('is full when too many wait, and reads on when one of them can run', () => {
    const partition = owned();
    for (let offset = 0; offset < 300; offset++) partition.read(record(offset), 1_000 + offset, 0);
    expect(partition.isFull).toBe(true);
    partition.ripe(1_000);
    expect(partition.isFull).toBe(false);
  });

  it('hands out one record of a key at a time where the order is kept', () => {
    const partition = owned({}, 'me', true);
    const first = take(partition, 0, 'a');
    expect(partition.read(record(1, 'a'), undefined, 0)).toBeUndefined();
    expect(partition.read(record(2, 'b'), undefined, 0)?.offset).toBe(2);
    expect(partition.finish(first, 0)?.offset).toBe(1);
  });

  it('remembers 32 dead keys over a change of owners, and refuses one more', () => {
    const partition = owned({}, 'me', true);
    take(partition, 0, 'k0');
    for (let n = 0; n < 32; n++) expect(partition.addDeadKey(`k${n}`)).toBe(true);
    expect(partition.addDeadKey('one more')).toBe(false);
    expect(partition.addDeadKey('k3')).toBe(true);
    const next = owned(partition.toCommit(), 'other', true);
    expect([next.isDead('k31'), next.isDead('one more')]).toEqual([true, false]);
    next.removeDeadKey('k31');
    expect(next.isDead('k31')).toBe(false);
  });

  it('knows what it was handed before', () => {
    const partition = owned();
    take(partition, 4);
    expect(partition.read(record(4), undefined, 0)).toBeUndefined();
    expect(partition.read(record(9), undefined, 0)?.offset).toBe(9);
  });
});
