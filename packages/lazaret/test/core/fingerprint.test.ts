import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainFingerprint, fingerprint } from '../../src/core/fingerprint.ts';
import { fnv1a64 } from '../../src/core/fnv.ts';
import { ownFrames } from '../../src/core/frames.ts';
import { messageShape } from '../../src/core/message-shape.ts';
import { type NormalError, normalise } from '../../src/core/normalise.ts';
import { HOSTILE_VALUES } from './hostile-values.ts';

const STACK = [
  'Error: m',
  '    at OrderService.charge (/app/src/orders/charge.js:41:17)',
  '    at /app/node_modules/retry/index.js:10:3',
  '    at async handle (file:///app/src/orders/handle.js:12:5)',
  '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
  '    at async Promise.all (index 0)',
].join('\n');

function failing(message: string, rest: Partial<NormalError> = {}): { error: NormalError; reason: 'exhausted' } {
  return { error: { name: 'Error', message, stack: STACK, causes: [], ...rest }, reason: 'exhausted' };
}

function groupOf(message: string, rest: Partial<NormalError> = {}): string {
  return fingerprint(failing(message, rest));
}

describe('fingerprint', () => {
  it.each([
    ['order numbers', 'order 4711 not found', 'order 12 not found'],
    ['signed and broken numbers', 'balance -12.50 is below 1,000.00', 'balance 3 is below 20'],
    ['uuids', 'no user 3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'no user 9b2d2c4a-0c7e-4b7e-8d5f-6a1b2c3d4e5f'],
    [
      'upper-case uuids',
      'no user 3F2504E0-4F89-11D3-9A0C-0305E82C3301',
      'no user 9b2d2c4a-0c7e-4b7e-8d5f-6a1b2c3d4e5f',
    ],
    ['hex', 'bad pointer 0xdeadbeef01', 'bad pointer 0x7fff5fbff8c0'],
    ['hashes', 'commit 9e107d9d372bb6826bd81d3542a419d6 is gone', 'commit e4d909c290d0fb1ca068ffaddf22cbd0 is gone'],
    ['ids with a prefix', 'cannot capture ord_91', 'cannot capture ord_8231'],
    ['random ids with a prefix', 'event evt-81f2 was refused', 'event evt-9c3a7 was refused'],
    ['ULIDs', 'letter 01J8ZQ4T7M9XKB2R3V5W6Y7Z8A', 'letter 01HZXABCDE0123456789FGHJKM'],
    ['IPv4 addresses', 'connect ECONNREFUSED 10.0.0.1:5432', 'connect ECONNREFUSED 10.12.1.200:5432'],
    ['IPv4 and IPv6', 'connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED ::1:5432'],
    ['IPv6 addresses', 'no route to 2001:db8::1', 'no route to fe80::1ff:fe23:4567:890a'],
    ['ephemeral ports', 'reset by 10.0.0.1:53412', 'reset by 10.0.0.2:60001'],
    ['email addresses', 'cannot write to ann@example.org', 'cannot write to bob.smith+x@mail.example.co.uk'],
    ['URLs', 'GET https://api.example.com/orders/1?x=1 failed', 'GET http://other.example.com/ failed'],
    ['connection strings', 'cannot reach amqp://u:p@rabbit:5672/vh', 'cannot reach amqps://rabbit-2/other'],
    ['ISO times', 'stale since 2026-03-01T12:00:00.123Z', 'stale since 2025-12-31T23:59:59+01:00'],
    ['ISO times with a blank', 'stale since 2026-03-01 12:00:00', 'stale since 2025-12-31'],
    ['HTTP dates', 'expired Sun, 06 Nov 1994 08:49:37 GMT', 'expired Fri, 31 Dec 2027 23:59:59 GMT'],
    ['clock times', 'window closes at 17:00:00', 'window closes at 08:30'],
    ['durations', 'gave up after 1500ms', 'gave up after 9s'],
    ['quoted text', 'column "name" is too long', 'column "address" is too long'],
    ['single quotes', "Cannot read 'name' of null", "Cannot read 'first name' of null"],
    ['backticks', 'Unknown field `a`', 'Unknown field `b.c`'],
    ['apostrophes outside of quotes', "can't find 'a'", "can't find 'b'"],
    ['lists of any length', 'lost ids: 1, 2, 3', 'lost ids: 17'],
    ['lists of quoted text', 'unknown keys "a", "b"', 'unknown keys "c"'],
    [
      'tokens',
      'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-1D_x is used up',
      'token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI5OTk5In0.Zz9_q is used up',
    ],
    [
      'broken JSON',
      `Unexpected token 'a', "{"id": 1a}" is not valid JSON`,
      `Unexpected token 'x', ..."me": "Ann"x"... is not valid JSON`,
    ],
    ['positions', 'Unexpected token } in JSON at position 17', 'Unexpected token } in JSON at position 4098'],
    ['white space', 'one  two\n\tthree', 'one two three'],
    ['what comes after 1,024 characters', `${'word '.repeat(300)}a`, `${'word '.repeat(300)}b`],
  ])('is the same for the same failure with other %s', (_, one, other) => {
    expect(groupOf(one)).toBe(groupOf(other));
  });

  it.each<[string, Parameters<typeof groupOf>, Parameters<typeof groupOf>]>([
    ['words', ['order 1 not found'], ['order 1 not paid']],
    ['types', ['m', { name: 'TypeError' }], ['m', { name: 'RangeError' }]],
    ['codes', ['m', { code: 'ECONNRESET' }], ['m', { code: 'ETIMEDOUT' }]],
    ['SQLSTATEs', ['m', { code: '23505' }], ['m', { code: '23503' }]],
    ['a code and none', ['m', { code: 'ECONNRESET' }], ['m']],
    ['statuses', ['request failed', { status: 404 }], ['request failed', { status: 503 }]],
    ['statuses that are only said', ['failed with status code 404'], ['failed with status code 503']],
    ['statuses with a colon', ['status: 404'], ['status: 503']],
    ['statuses with an equals sign', ['(status=404)'], ['(status=503)']],
    ['statuses after HTTP', ['HTTP 404 from it'], ['HTTP 503 from it']],
    ['services behind a port', ['connect ECONNREFUSED 10.0.0.1:5432'], ['connect ECONNREFUSED 10.0.0.1:6379']],
    ['services behind a local port', ['connect ECONNREFUSED localhost:5432'], ['connect ECONNREFUSED localhost:6379']],
    ['host names', ['getaddrinfo ENOTFOUND db.internal'], ['getaddrinfo ENOTFOUND cache.internal']],
    ['a number and a word', ['found 3 rows'], ['found no rows']],
    ['an address and an email', ['cannot reach 10.0.0.1'], ['cannot reach a@b.org']],
    ['functions', ['m', at('a', '/app/x.js')], ['m', at('b', '/app/x.js')]],
    ['files', ['m', at('a', '/app/x.js', '/app/main.js')], ['m', at('a', '/app/y.js', '/app/main.js')]],
    [
      'folders below the shared one',
      ['m', at('a', '/app/in/x.js', '/app/main.js')],
      ['m', at('a', '/app/out/x.js', '/app/main.js')],
    ],
    ['callers', ['m', at('a', '/app/x.js', '/app/y.js')], ['m', at('a', '/app/x.js', '/app/z.js')]],
    ['types of cause', ['m', below({ name: 'TypeError' })], ['m', below({ name: 'RangeError' })]],
    ['codes of cause', ['m', below({ code: 'ECONNRESET' })], ['m', below({ code: 'EPIPE' })]],
    ['messages of cause', ['m', below({ message: 'card declined' })], ['m', below({ message: 'no such account' })]],
    ['a cause and none', ['m', below({ message: 'card declined' })], ['m']],
    ['cases', ['Not found'], ['not found']],
    ['an empty message and one', [''], ['m']],
  ])('differs between failures with different %s', (_, one, other) => {
    expect(groupOf(...one)).not.toBe(groupOf(...other));
  });

  it.each<[string, Partial<NormalError>, Partial<NormalError>]>([
    ['line and column numbers', at('a', '/app/x.js:1:2', '/app/y.js:3:4'), at('a', '/app/x.js:77:1', '/app/y.js:9:9')],
    [
      'the folder of the installation',
      at('a', '/app/src/x.js', '/app/src/in/y.js'),
      at('a', '/home/ann/shop/src/x.js', '/home/ann/shop/src/in/y.js'),
    ],
    ['the folder where only one file shows', at('a', '/app/x.js'), at('a', '/srv/deep/er/x.js')],
    ['file URLs', at('a', '/app/src/x.js'), at('a', 'file:///app/src/x.js')],
    ['a folder of Windows', at('a', '/app/src/x.js', '/app/y.js'), at('a', 'C:\\shop\\src\\x.js', 'C:\\shop\\y.js')],
    [
      'a file URL of Windows',
      at('a', '/app/src/x.js', '/app/y.js'),
      at('a', 'file:///C:/shop/src/x.js', 'file:///C:/shop/y.js'),
    ],
    [
      'frames of packages',
      at('a', '/app/x.js', '/app/node_modules/p/i.js', '/app/y.js'),
      at('a', '/app/x.js', '/app/y.js'),
    ],
    ['frames of Node', at('a', '/app/x.js', 'node:internal/process/task_queues'), at('a', '/app/x.js')],
    ['content hashes of bundles', at('a', '/app/main.3f2a1b9c.js'), at('a', '/app/main.77aa01fe.js')],
    ['queries of modules', at('a', '/app/x.js?t=1700000001'), at('a', '/app/x.js?t=1800000002')],
    ['frames below the fifth', at('a', ...five(), '/app/six.js'), at('a', ...five(), '/app/seven.js')],
    ['repeated links', { causes: [cause({ code: 'E' }), cause({ code: 'E' })] }, { causes: [cause({ code: 'E' })] }],
    ['links below the fourth', chain('a', 'b', 'c', 'd'), chain('a', 'b', 'c', 'e')],
    ['frames of a cause', { causes: [cause({ stack: STACK })] }, { causes: [cause({})] }],
  ])('does not depend on %s', (_, one, other) => {
    expect(groupOf('m', one)).toBe(groupOf('m', other));
  });

  it('reads the frames of the first cause that has own ones', () => {
    const stackless = 'Error: m\n    at internalConnect (node:net:1:1)';
    const one = groupOf('m', { stack: stackless, causes: [cause(at('a', '/app/x.js'))] });
    const other = groupOf('m', { stack: stackless, causes: [cause(at('b', '/app/x.js'))] });
    expect(one).not.toBe(other);
  });

  it('ignores lines of the message that look like frames', () => {
    const message = 'child failed:\n    at evil (/app/evil.js:1:1)';
    const { lines } = explainFingerprint(
      failing(message, { stack: `Error: ${message}\n    at good (/app/good.js:1:1)` }),
    );
    expect(lines.filter((line) => line.startsWith('frame'))).toEqual(['frame good good.js']);
  });

  it('groups letters without an error by reason and stage', () => {
    const groups = [
      fingerprint({ reason: 'crash' }),
      fingerprint({ reason: 'oversize' }),
      fingerprint({ reason: 'crash', stage: 'charge' }),
      fingerprint({ reason: 'crash', stage: 'mail' }),
    ];
    expect(new Set(groups).size).toBe(4);
    expect(fingerprint({ reason: 'crash', error: undefined, stage: undefined })).toBe(groups[0]);
  });

  it('groups letters with an error by error and stage, whatever the reason', () => {
    const { error } = failing('m');
    expect(fingerprint({ error, reason: 'poison' })).toBe(fingerprint({ error, reason: 'exhausted' }));
    expect(fingerprint({ error, reason: 'poison', stage: 'charge' })).not.toBe(
      fingerprint({ error, reason: 'poison' }),
    );
  });

  it('explains what it hashed', () => {
    const error: NormalError = {
      name: 'PaymentError',
      message: 'order 17 of "ann" was refused',
      code: 'DECLINED',
      status: 502,
      stack: STACK,
      causes: [cause({ name: 'Error', message: 'connect ECONNREFUSED 10.0.0.1:443', code: 'ECONNREFUSED' })],
    };
    const recipe = explainFingerprint({ error, reason: 'exhausted', stage: 'charge' });
    expect(recipe.lines).toEqual([
      'error PaymentError DECLINED 502: order <n> of <text> was refused',
      'error Error ECONNREFUSED: connect ECONNREFUSED <addr>:443',
      'frame OrderService.charge charge.js',
      'frame handle handle.js',
      'stage charge',
    ]);
    expect(recipe.fingerprint).toBe(`v1:${fnv1a64(recipe.lines.join('\n'))}`);
  });

  // These values are stored in quarantines: a change of any of them is a new version of the fingerprint.
  it.each([
    ['v1:1dd63fe0435a4ae1', failing('order 4711 not found')],
    [
      'v1:4171c9d51e63fe5e',
      failing('connect ECONNREFUSED 10.0.0.1:5432', { code: 'ECONNREFUSED', ...below({ name: 'TypeError' }) }),
    ],
    ['v1:95d9121acaca0b66', { reason: 'crash' as const }],
  ])('gives %s for ever', (expected, input) => {
    expect(fingerprint(input)).toBe(expected);
  });

  it('cannot be split by a line break in name, code or stage', () => {
    const { lines } = explainFingerprint({
      ...failing('m\nframe x', { name: 'E\nframe y', code: 'C\nframe z' }),
      stage: 's\r\nt',
    });
    expect(lines.every((line) => !/[\r\n]/.test(line))).toBe(true);
  });

  it.each(HOSTILE_VALUES)('is total for %s', (_, value) => {
    expect(fingerprint({ error: normalise(value), reason: 'exhausted' })).toMatch(/^v1:[0-9a-f]{16}$/);
  });

  it('is a pure function of its input', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.string({ unit: 'binary' }), (message, name, stack) => {
        const first = groupOf(message, { name, stack });
        groupOf('something between');
        return first === groupOf(message, { name, stack }) && /^v1:[0-9a-f]{16}$/.test(first);
      }),
    );
  });
});

/** A stack in which `call` fails in the first of `places`. */
function at(call: string, ...places: string[]): { stack: string } {
  const frames = places.map((place, index) => {
    const located = /:\d+:\d+$/.test(place) ? place : `${place}:${index + 1}:5`;
    return `    at ${index === 0 ? call : `caller${index}`} (${located})`;
  });
  return { stack: ['Error: m', ...renumbered(frames)].join('\n') };
}

/** Callers are named by their place among own frames, so that foreign ones can be put between. */
function renumbered(frames: string[]): string[] {
  let own = 0;
  return frames.map((frame) =>
    /node_modules|node:/.test(frame) ? frame : frame.replace(/caller\d+/, () => `caller${++own}`),
  );
}

function five(): string[] {
  return ['one', 'two', 'three', 'four', 'five'].map((name) => `/app/${name}.js`);
}

function cause(fields: Partial<NormalError>): NormalError {
  return { name: 'Error', message: 'below', causes: [], ...fields };
}

function below(fields: Partial<NormalError>): { causes: NormalError[] } {
  return { causes: [cause(fields)] };
}

function chain(...messages: string[]): { causes: NormalError[] } {
  return { causes: messages.map((message) => cause({ message })) };
}

describe('messageShape', () => {
  it.each([
    ['', ''],
    ['nothing to replace here', 'nothing to replace here'],
    ["Cannot read properties of undefined (reading 'name')", 'Cannot read properties of undefined (reading <text>)'],
    ['order 17: 3 of 5 lines', 'order <n>: <n> of <n> lines'],
    ['ids: 1, 2; 3', 'ids: <n>'],
    ['at 10.0.0.1, 10.0.0.2', 'at <addr>'],
    ['10.0.0.0/8 via [2001:db8::1]:443', '<addr> via <addr>:443'],
    ['std::vector is empty', 'std::vector is empty'],
    ['db-1.internal:5432', 'db-<n>.internal:<n>'],
    ['Tue, 01 Jan 2030 00:00:00 GMT', '<time>'],
    ['Thu Jan 01 2026 00:00:00 GMT+0000 (UTC)', '<time> (UTC)'],
    ['status 200 of 300', 'status 200 of <n>'],
    ['code 12345', 'code <n>'],
    ['“a” and «b»', '<text> and <text>'],
    ["it's Ann's", "it's Ann's"],
    ['über 12 Äpfel', 'über <n> Äpfel'],
    ['订单123失败', '订单<n>失败'],
    ['\u0000 \u001b', '\u0000 \u001b'],
  ])('of %j is %j', (message, shape) => {
    expect(messageShape(message)).toBe(shape);
  });

  it('is at most 256 characters long, on one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (message) => {
        const shape = messageShape(message);
        return shape.length <= 256 && !/[\r\n]/.test(shape);
      }),
    );
  });

  it.each([
    ['digits', '1'.repeat(100_000)],
    ['dots', '1.'.repeat(50_000)],
    ['colons', ':'.repeat(100_000)],
    ['an address that never ends', 'a:1:'.repeat(25_000)],
    ['an email without an end', `${'a.'.repeat(50_000)}@`],
    ['many emails', 'a@a.'.repeat(25_000)],
    ['a URL without a scheme', `${'a+'.repeat(50_000)}://`],
    ['open quotes', '"\'`“'.repeat(25_000)],
    ['quoted JSON', `${'"a'.repeat(50_000)} is not valid JSON`],
    ['tokens', `${'Aa1-'.repeat(25_000)}!`],
    ['letters', 'a'.repeat(100_000)],
    ['months', 'Jan 1 '.repeat(20_000)],
    ['blanks', ' '.repeat(100_000)],
    ['numbers', '1 '.repeat(50_000)],
    ['placeholders', '<n>,'.repeat(25_000)],
    ['statuses', 'status 503 '.repeat(10_000)],
  ])('takes a bounded time for %s', (_, message) => {
    expect(best(() => messageShape(message))).toBeLessThan(5);
  });
});

function best(run: () => void): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 7; round++) {
    const start = process.hrtime.bigint();
    run();
    shortest = Math.min(shortest, Number(process.hrtime.bigint() - start) / 1e6);
  }
  return shortest;
}

describe('ownFrames', () => {
  it.each<[string, string, string[]]>([
    [
      'V8',
      `Error: m
    at new Order (/app/src/order.js:1:1)
    at Object.handle [as run] (/app/src/handle.js:2:2)
    at async Promise.all (index 0)
    at /app/src/main.js:3:3
    at async file:///app/src/esm.js:4:4
    at eval (eval at run (/app/src/x.js:1:1), <anonymous>:1:1)
    at Array.map (<anonymous>)
    at net.js:1137:16
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)`,
      ['new Order order.js', 'Object.handle handle.js', ' main.js', ' esm.js'],
    ],
    [
      'the JVM',
      `com.acme.OrderException: m
\tat com.acme.orders.Charge.run(Charge.java:42)
\tat com.acme.orders.Handler.lambda$handle$7(Handler.kt:12)
\tat java.base/java.util.concurrent.FutureTask.run(FutureTask.java:264)
\tat app//com.acme.Main.main(Main.java:3)
\tat org.springframework.kafka.Listener.invoke(Listener.java:9)
Caused by: java.io.IOException: x
\t... 12 more`,
      [
        'com.acme.orders.Charge.run Charge.java',
        'com.acme.orders.Handler.lambda$handle$ Handler.kt',
        'com.acme.Main.main Main.java',
      ],
    ],
    [
      '.NET',
      `System.InvalidOperationException: m
   at Acme.Orders.Charge.Run(Order order) in C:\\src\\Orders\\Charge.cs:line 42
   at Acme.Orders.Handler.<Handle>d__12.MoveNext() in C:\\src\\Orders\\Handler.cs:line 7
   at System.Threading.Tasks.Task.Execute()
   at Acme.Orders.Program.Main(String[] args)`,
      [
        'Acme.Orders.Charge.Run Charge.cs',
        'Acme.Orders.Handler.<Handle>d__.MoveNext Handler.cs',
        'Acme.Orders.Program.Main ',
      ],
    ],
    [
      'Python, innermost first',
      `Traceback (most recent call last):
  File "/srv/app/main.py", line 3, in <module>
    handle()
  File "/usr/lib/python3.12/asyncio/runners.py", line 1, in run
  File "/srv/app/.venv/lib/python3.12/site-packages/lib/x.py", line 3, in call
  File "/srv/app/orders/charge.py", line 42, in charge
ValueError: m`,
      ['charge orders/charge.py', '<module> main.py'],
    ],
    [
      'Go',
      `goroutine 1 [running]:
main.charge(0xc000012345)
\t/src/shop/orders/charge.go:42 +0x1d
github.com/acme/lib.Call(...)
\t/home/app/go/pkg/mod/github.com/acme/lib@v1/lib.go:1 +0x1
main.main()
\t/src/shop/main.go:7 +0x2b`,
      ['main.charge orders/charge.go', 'main.main main.go'],
    ],
    [
      'Ruby',
      "/srv/app/charge.rb:42:in 'Charge#run': m (RuntimeError)\n\tfrom /srv/app/handle.rb:7:in `handle'\n\tfrom /usr/lib/ruby/gems/3.2/x.rb:1:in 'call'\n\tfrom /srv/app/main.rb:1:in '<main>'",
      ['handle handle.rb', '<main> main.rb'],
    ],
    [
      'PHP',
      "#0 /srv/app/src/Charge.php(42): Acme\\Charge->run('x')\n#1 /srv/app/vendor/lib/X.php(1): call()\n#2 /srv/app/index.php(7): handle()\n#3 {main}",
      ['Acme\\Charge->run src/Charge.php', 'handle index.php'],
    ],
    ['nothing', '', []],
    ['words', 'at last (it works)\nat home', []],
  ])('reads %s', (_, stack, expected) => {
    expect(ownFrames(stack, 5).map(({ call, file }) => `${call} ${file}`)).toEqual(expected);
  });

  it.each([
    ['one long line', `    at ${'a ('.repeat(50_000)}`],
    ['many lines', '    at a (b)\n'.repeat(50_000)],
    ['lines without a break', `File "${'x'.repeat(200_000)}`],
    ['colons', `    at f (${':1'.repeat(400)})\n`.repeat(1000)],
    ['folders', `    at f (/${'a/'.repeat(480)}x.js:1:1)\n    at f (/b/x.js:1:1)\n`.repeat(1000)],
  ])('takes a bounded time for %s', (_, stack) => {
    expect(best(() => ownFrames(stack, 5))).toBeLessThan(5);
  });
});

describe('fnv1a64', () => {
  // Published with draft-eastlake-fnv.
  it.each([
    ['', 'cbf29ce484222325'],
    ['a', 'af63dc4c8601ec8c'],
    ['b', 'af63df4c8601f1a5'],
    ['c', 'af63de4c8601eff2'],
    ['foo', 'dcb27518fed9d577'],
    ['foob', 'dd120e790c2512af'],
    ['fooba', 'cac165afa2fef40a'],
    ['foobar', '85944171f73967e8'],
  ])('of %j is %s', (text, expected) => {
    expect(fnv1a64(text)).toBe(expected);
  });

  it('agrees with the definition in whole numbers, over the bytes of UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        let hash = 0xcbf29ce484222325n;
        for (const byte of new TextEncoder().encode(text))
          hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
        return fnv1a64(text) === hash.toString(16).padStart(16, '0');
      }),
    );
  });
});
