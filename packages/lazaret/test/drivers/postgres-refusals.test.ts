import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { PgPool } from '../../src/drivers/postgres/index.ts';
import { openPostgres, type PostgresOptions } from '../../src/drivers/postgres/index.ts';
import { readOptions } from '../../src/drivers/postgres/options.ts';
import { realSystem } from '../../src/system.ts';
import { detourTo, through } from './detour.ts';
import { freshSchema, onPostgres, plainly } from './postgres/server.ts';

describe('options of the PostgreSQL driver', () => {
  const url = 'postgres://localhost/db';

  it.each([
    [{}, 'LZ1002'],
    [{ url: 'http://localhost' }, 'LZ1002'],
    [{ url: 'postgres://[' }, 'LZ1002'],
    [{ url: 7 }, 'LZ1002'],
    [{ url, pool: { query: () => {}, connect: () => {} } }, 'LZ1004'],
    [{ pool: {} }, 'LZ1002'],
    [{ url, shema: 'x' }, 'LZ1001'],
    [{ url, schema: 'a"; DROP TABLE x' }, 'LZ1003'],
    [{ url, schema: '' }, 'LZ1003'],
    [{ url, provision: 'some' }, 'LZ1003'],
    [{ url, connections: 1 }, 'LZ1003'],
    [{ url, connections: 1.5 }, 'LZ1003'],
    [{ url, statementTimeout: 100 }, 'LZ1042'],
    [{ url, dedupeWindow: 'soon' }, 'LZ1043'],
    [{ url: `${url}?connections=many` }, 'LZ1003'],
    [{ url, statementTimeout: '0s' }, 'LZ1003'],
  ])('refuse %j with %s', (options, code) => {
    expect(() => readOptions(options as unknown as PostgresOptions)).toThrow(expect.objectContaining({ code }));
  });

  it('are read from the address, and what is meant for the client is left there', () => {
    const settings = readOptions({ url: `${url}?schema=shop&sslmode=disable&connections=7&connectTimeout=2s` });
    expect(settings).toMatchObject({
      schema: 'shop',
      connections: 7,
      connectTimeoutMs: 2_000,
      url: `${url}?sslmode=disable`,
    });
    expect(readOptions({ url: `${url}?schema=shop`, schema: 'other' }).schema).toBe('other');
  });

  it('name the place without its password', () => {
    expect(readOptions({ url: 'postgres://user:secret@db.example:5433/shop?sslmode=require' }).place).toBe(
      'db.example:5433/shop',
    );
  });
});

await onPostgres('refusals', (url) => {
  const schemas: string[] = [];
  const servers: Server[] = [];
  const schema = () => {
    const name = freshSchema();
    schemas.push(name);
    return name;
  };
  const changed = (change: (address: URL) => void) => {
    const address = new URL(url);
    change(address);
    return address.toString();
  };
  const refusal = async (options: PostgresOptions) => {
    const startedAt = performance.now();
    const error = await openPostgres({ ...options, system: realSystem }).then(
      (broker) => broker.close().then(() => undefined),
      (thrown: unknown) => thrown as { code: string; message: string },
    );
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    return error;
  };
  const listening = async (answer: (socket: import('node:net').Socket) => void): Promise<string> => {
    const server = createServer(answer);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return changed((address) => {
      address.port = String((server.address() as AddressInfo).port);
    });
  };

  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    for (const name of schemas.splice(0)) await plainly(url, `DROP SCHEMA IF EXISTS ${name} CASCADE`);
  });

  describe('what PostgreSQL refuses', () => {
    it('is told as one error: nobody listens', async () => {
      const nowhere = changed((address) => {
        address.port = '1';
      });
      const error = await refusal({ url: nowhere });
      expect(error).toMatchObject({ code: 'LZ1130' });
      expect(error!.message).not.toContain('lazaret:lazaret');
    });

    it('is told as one error: something else listens', async () => {
      const elsewhere = await listening((socket) => socket.end('220 mail.example ESMTP\r\n'));
      expect(await refusal({ url: elsewhere })).toMatchObject({ code: 'LZ1130' });
    });

    it('is told as one error: it never answers', async () => {
      const silent = await listening((socket) => socket.on('error', () => undefined));
      expect(await refusal({ url: silent, connectTimeout: '500ms' })).toMatchObject({ code: 'LZ1130' });
    });

    it('is told as one error: a wrong password', async () => {
      const wrong = changed((address) => {
        address.password = 'wrong';
      });
      expect(await refusal({ url: wrong })).toMatchObject({ code: 'LZ1131' });
    });

    it('is told as one error: no such database', async () => {
      const wrong = changed((address) => {
        address.pathname = '/elsewhere';
      });
      expect(await refusal({ url: wrong })).toMatchObject({ code: 'LZ1131' });
    });

    it('is told as one error: no tables, and none may be made', async () => {
      expect(await refusal({ url, schema: schema(), provision: 'never' })).toMatchObject({ code: 'LZ1302' });
    });

    it('is told as one error: a schema that serves newer code only', async () => {
      const name = schema();
      expect(await refusal({ url, schema: name })).toBeUndefined();
      await plainly(url, `UPDATE ${name}.components SET version = 9, serves = 8`);
      expect(await refusal({ url, schema: name })).toMatchObject({ code: 'LZ1113' });
      await plainly(url, `UPDATE ${name}.components SET serves = 1`);
      expect(await refusal({ url, schema: name })).toBeUndefined();
    });

    it('is told as one error: a queue that is not there, and may not be made', async () => {
      const name = schema();
      await refusal({ url, schema: name });
      const broker = await openPostgres({ url, schema: name, provision: 'never', system: realSystem });
      const options = {
        prefetch: 1,
        leaseMs: 1_000,
        waitMs: 100,
        order: 'none',
        maxAttempts: 4,
        lost() {},
        suspects() {},
      } as const;
      await expect(broker.subscribe('absent', options)).rejects.toMatchObject({ code: 'LZ1302' });
      expect(await broker.publish('absent', [{ body: null }])).toEqual(['unroutable']);
      await broker.close();
    });

    it('names what a caller may do instead: groups, a queue of dead letters', async () => {
      const broker = await openPostgres({ url, schema: schema(), system: realSystem });
      const options = {
        prefetch: 1,
        leaseMs: 1_000,
        waitMs: 100,
        order: 'none',
        maxAttempts: 4,
        lost() {},
        suspects() {},
      } as const;
      await expect(broker.subscribe('q', { ...options, group: 'g' })).rejects.toMatchObject({ code: 'LZ1004' });
      await expect(broker.subscribe('q', { ...options, deadLetter: 'd' })).rejects.toMatchObject({ code: 'LZ1004' });
      await broker.close();
      await expect(broker.subscribe('q', options)).rejects.toMatchObject({ code: 'LZ1102' });
    });

    it('is told for each message, and harms no neighbour', async () => {
      const broker = await openPostgres({ url, schema: schema(), system: realSystem });
      const wide = { id: 'wide', body: null, headers: [['h', 'x'.repeat(2_000_000)]] } as const;
      const bare = { id: 'bare', body: 'text' as unknown as Uint8Array };
      const results = await broker.publish('q', [{ id: 'a', body: null }, wide, bare, { id: 'b', body: null }]);
      expect(results.map((result) => (result instanceof Error ? (result as { code?: string }).code : result))).toEqual([
        'done',
        'LZ1119',
        'LZ1119',
        'done',
      ]);
      await broker.close();
    });
  });

  describe('a connection that is cut', () => {
    it('fails what it was asked, and nothing else', async () => {
      const detour = await detourTo(url);
      const broker = await openPostgres({ url: through(detour, url), schema: schema(), system: realSystem });
      const failures: unknown[] = [];
      const note = (error: unknown) => failures.push(error);
      process.on('uncaughtException', note);
      detour.deafen(true);
      const publishing = broker.publish('q', [{ body: null }]);
      await new Promise((resolve) => setTimeout(resolve, 100));
      detour.cut();
      const [result] = await publishing;
      expect(result === 'unknown' || result instanceof Error).toBe(true);
      detour.deafen(false);
      expect(await broker.publish('q', [{ body: null }])).toEqual(['done']);
      process.off('uncaughtException', note);
      expect(failures).toEqual([]);
      await broker.close();
      await detour.block();
    });
  });

  describe('a pool of yours', () => {
    it('may have one connection only', async () => {
      const { Pool } = await import('pg');
      const pool = new Pool({ connectionString: url, max: 1 });
      const broker = await openPostgres({ pool: pool as unknown as PgPool, schema: schema(), system: realSystem });
      expect(broker.listens).toBe(false);
      expect(await broker.publish('q', [{ body: null }])).toEqual(['done']);
      expect(await broker.inspect('q')).toMatchObject({ ready: 1 });
      await broker.close();
      await pool.end();
    });

    it('is used, and not ended', async () => {
      const { Pool } = await import('pg');
      const pool = new Pool({ connectionString: url, max: 3 });
      const broker = await openPostgres({ pool: pool as unknown as PgPool, schema: schema(), system: realSystem });
      expect(await broker.publish('q', [{ body: null }])).toEqual(['done']);
      await broker.close();
      expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
      await pool.end();
    });
  });
});
