import { createHash } from 'node:crypto';

/** A script of the server, by what `EVALSHA` calls it. */
export interface Script {
  readonly sha: string;
  readonly text: string;
}

/**
 * What the scripts share. KEYS in the order of `listOf`. An entry is in hand while it stands in `leases`, and waits while it stands in
 * `waiting` or `suspects`; one that stands nowhere was never handed out, or is gone. `counts` holds 'starts:deliveries:attempt:not-before':
 * hand-outs in a row without outcome, hand-outs in all, charged failures + 1, and a due time, '-' for none, empty where the message's own
 * stands. The number of deliveries recognises a hand-out: neither it nor an entry's id is ever given to another. Times are milliseconds of
 * the server's clock.
 */
const SHARED = `
local stream, leases, waiting, suspects, counts, delayed, later, dead = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function whole(n) return string.format('%.0f', n) end
local function read(id)
  local text = redis.call('HGET', counts, id)
  if not text then return nil end
  local starts, deliveries, attempt, due = string.match(text, '^(%d+):(%d+):(%d+):(.*)$')
  return { starts = tonumber(starts), deliveries = tonumber(deliveries), attempt = tonumber(attempt), due = due }
end
local function write(id, count)
  redis.call('HSET', counts, id, count.starts .. ':' .. count.deliveries .. ':' .. count.attempt .. ':' .. count.due)
end
local function ours(id, token)
  local count = read(id)
  if not count or count.deliveries ~= token then return nil end
  local endsAt = redis.call('ZSCORE', leases, id)
  if not endsAt or tonumber(endsAt) <= now then return nil end
  return count
end
local function forget(group, deletes, id)
  redis.call('ZREM', leases, id)
  redis.call('HDEL', counts, id)
  redis.call('XACK', stream, group, id)
  if deletes == '1' then redis.call('XDEL', stream, id) end
end
local function lease(group, id, leaseMs)
  local claimed = redis.call('XCLAIM', stream, group, 'lazaret', 0, id, 'FORCE')
  local entry = claimed[1]
  if not entry or not entry[2] then
    redis.call('XACK', stream, group, id)
    redis.call('HDEL', counts, id)
    return nil
  end
  local count = read(id) or { starts = 0, deliveries = 0, attempt = 1, due = '' }
  count.starts = count.starts + 1
  count.deliveries = count.deliveries + 1
  write(id, count)
  redis.call('ZADD', leases, now + leaseMs, id)
  return { id, entry[2], count.starts, count.deliveries, count.attempt, count.due }
end
local function attemptOf(fields)
  for i = 1, #fields, 2 do
    if fields[i] == 'a' or fields[i] == 'lazaret-attempt' then return tonumber(string.match(fields[i + 1], '^%d%d?%d?%d?%d?%d?$')) or 1 end
  end
  return 1
end
local function wake()
  for _, number in ipairs(redis.call('ZRANGEBYSCORE', delayed, '-inf', now, 'LIMIT', 0, 200)) do
    local packed = redis.call('HGET', later, number)
    if packed then redis.call('XADD', stream, '*', unpack(cmsgpack.unpack(packed))) end
    redis.call('ZREM', delayed, number)
    redis.call('HDEL', later, number)
  end
end
`;

function script(body: string): Script {
  const text = SHARED + body;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * One turn of a consumer: what it acknowledged, then what it claims. ARGV: group, whether to delete, lease, how many to claim, how many
 * acks, then id and token of each. Answers: the places of lost acks; claimed entries; how many suspects wait; in how long something is
 * due, -1 for nothing; the newest entry that was handed out.
 */
export const TURN: Script = script(`
local group, deletes, leaseMs, most, acks = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local lost = {}
local taken = {}
-- Together they cost a fraction of what they cost singly.
for first = 1, acks, 500 do
  local last = math.min(first + 499, acks)
  local ids, gone = {}, {}
  for i = first, last do ids[#ids + 1] = ARGV[4 + 2 * i] end
  local texts = redis.call('HMGET', counts, unpack(ids))
  local ends = redis.call('ZMSCORE', leases, unpack(ids))
  for i = first, last do
    local at = i - first + 1
    local deliveries = texts[at] and string.match(texts[at], '^%d+:(%d+):')
    if deliveries == ARGV[5 + 2 * i] and ends[at] and tonumber(ends[at]) > now then
      gone[#gone + 1] = ids[at]
    else
      lost[#lost + 1] = i
    end
  end
  if #gone > 0 then
    redis.call('ZREM', leases, unpack(gone))
    redis.call('HDEL', counts, unpack(gone))
    redis.call('XACK', stream, group, unpack(gone))
    if deletes == '1' then redis.call('XDEL', stream, unpack(gone)) end
  end
end
if most <= 0 then return { lost, taken, 0, -1, '' } end
wake()
local function takeDue(set)
  if #taken >= most then return end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', set, '-inf', now, 'LIMIT', 0, most - #taken)) do
    redis.call('ZREM', set, id)
    local count = read(id)
    if count and count.starts >= 2 then
      redis.call('ZADD', suspects, now, id)
    else
      local entry = lease(group, id, leaseMs)
      if entry then taken[#taken + 1] = entry end
    end
  end
end
takeDue(waiting)
takeDue(leases)
local isEmpty = false
if #taken < most then
  local wanted = most - #taken
  local answer = redis.call('XREADGROUP', 'GROUP', group, 'lazaret', 'COUNT', wanted, 'STREAMS', stream, '>')
  local entries = answer and answer[1] and answer[1][2] or {}
  isEmpty = #entries < wanted
  local fresh, ends = {}, {}
  for i, entry in ipairs(entries) do
    local id, attempt = entry[1], attemptOf(entry[2])
    fresh[#fresh + 1] = id
    fresh[#fresh + 1] = '1:1:' .. attempt .. ':'
    ends[#ends + 1] = now + leaseMs
    ends[#ends + 1] = id
    taken[#taken + 1] = { id, entry[2], 1, 1, attempt, '' }
    if #fresh == 1000 or i == #entries then
      redis.call('HSET', counts, unpack(fresh))
      redis.call('ZADD', leases, unpack(ends))
      fresh, ends = {}, {}
    end
  end
end
local dueMs = -1
local newest = ''
if isEmpty then
  for _, set in ipairs({ waiting, leases, delayed }) do
    local first = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')
    if first[2] then
      local inMs = math.max(0, math.ceil(tonumber(first[2]) - now))
      if dueMs < 0 or inMs < dueMs then dueMs = inMs end
    end
  end
  local last = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)
  newest = last[1] and last[1][1] or '0-0'
end
return { lost, taken, redis.call('ZCARD', suspects), dueMs, newest }
`);

/** One suspect. ARGV: group, lease. Answers an entry, or nothing. */
export const SUSPECT: Script = script(`
for _ = 1, 100 do
  local id = redis.call('ZRANGE', suspects, 0, 0)[1]
  if not id then return { false, 0 } end
  redis.call('ZREM', suspects, id)
  local entry = lease(ARGV[1], id, tonumber(ARGV[2]))
  if entry then return { entry, redis.call('ZCARD', suspects) } end
end
return { false, redis.call('ZCARD', suspects) }
`);

/**
 * What is not an ack. ARGV: group, whether to delete, how many, then for each: verb, id, token, delay, not-before, and how many fields of
 * a letter follow, and these. Answers the places of what was still ours.
 */
export const SETTLE: Script = script(`
local group, deletes = ARGV[1], ARGV[2]
local done = {}
local at = 4
for i = 1, tonumber(ARGV[3]) do
  local verb, id, token, delayMs, due, fields = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3]), ARGV[at + 4], tonumber(ARGV[at + 5])
  local letter = {}
  for f = 1, fields do letter[f] = ARGV[at + 5 + f] end
  at = at + 6 + fields
  local count = ours(id, token)
  if count then
    done[#done + 1] = i
    if verb == 'ack' then
      forget(group, deletes, id)
    elseif verb == 'deadLetter' then
      redis.call('XADD', dead, '*', unpack(letter))
      forget(group, deletes, id)
    elseif verb == 'charge' then
      count.attempt = count.attempt + 1
      count.starts = 1
      write(id, count)
    elseif verb == 'retry' or verb == 'release' then
      if verb == 'retry' then
        count.attempt = count.attempt + 1
        count.starts = 0
        count.due = due == '' and '-' or due
      else
        count.starts = math.max(count.starts - 1, 0)
        if due ~= '' then count.due = due end
      end
      write(id, count)
      redis.call('ZREM', leases, id)
      redis.call('ZADD', waiting, now + delayMs, id)
    end
  end
end
return done
`);

/** ARGV: id, token and lease of each. Answers the places of what was still ours. */
export const EXTEND: Script = script(`
local done = {}
for i = 1, #ARGV / 3 do
  local id = ARGV[3 * i - 2]
  if ours(id, tonumber(ARGV[3 * i - 1])) then
    redis.call('ZADD', leases, now + tonumber(ARGV[3 * i]), id)
    done[#done + 1] = i
  end
end
return done
`);

/**
 * Messages with a delay or a dedupe id. ARGV: delay, window, prefix of remembered ids, how many, then for each: a number that nobody else
 * has, its dedupe id, how many fields follow, and these.
 */
export const PUBLISH: Script = script(`
local delayMs, windowMs, prefix = tonumber(ARGV[1]), ARGV[2], ARGV[3]
local at = 5
for i = 1, tonumber(ARGV[4]) do
  local number, dedupe, count = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  local fields = {}
  for f = 1, count do fields[f] = ARGV[at + 2 + f] end
  at = at + 3 + count
  if dedupe == '' or redis.call('SET', prefix .. dedupe, '1', 'NX', 'PX', windowMs) then
    if delayMs <= 0 then
      redis.call('XADD', stream, '*', unpack(fields))
    else
      redis.call('HSET', later, number, cmsgpack.pack(fields))
      redis.call('ZADD', delayed, now + delayMs, number)
    end
  end
end
return 1
`);

/** Counts. ARGV: group. Answers: in the stream, in hand, in hand with an ended lease, waiting, waiting and due, suspects, delayed, delayed and due, dead, the oldest entry. */
export const FACTS: Script = script(`
local first = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)
return {
  redis.call('XLEN', stream), redis.call('ZCARD', leases), redis.call('ZCOUNT', leases, '-inf', now),
  redis.call('ZCARD', waiting), redis.call('ZCOUNT', waiting, '-inf', now), redis.call('ZCARD', suspects),
  redis.call('ZCARD', delayed), redis.call('ZCOUNT', delayed, '-inf', now), redis.call('XLEN', dead),
  first[1] and first[1][1] or ''
}
`);

/** KEYS: one. ARGV: what version was seen, the new value, whether there is one, how long it lasts. Answers 1 where it was swapped. */
export const SWAP: Script = (() => {
  const text = `
local found = redis.call('HMGET', KEYS[1], 'version', 'value')
local version = found[1] or '0'
if version ~= ARGV[1] then return 0 end
if ARGV[3] == '0' then
  redis.call('DEL', KEYS[1])
  return 1
end
local time = redis.call('TIME')
local next = math.max(tonumber(version) + 1, time[1] * 1000000 + time[2])
redis.call('HSET', KEYS[1], 'version', string.format('%.0f', next), 'value', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
`;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
})();
