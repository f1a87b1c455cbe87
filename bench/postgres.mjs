// PostgreSQL: claims and deletes in a raw loop of `pg`, and graphile-worker, beside the driver.
//
//   npm run build && npm ci --prefix bench && scripts/services up postgres && node bench/postgres.mjs <url>

import { Logger, runMigrations, run as runWorker } from 'graphile-worker';
import pg from 'pg';
import { postgres } from '../packages/lazaret/dist/drivers/postgres/index.js';
import { lazaret } from '../packages/lazaret/dist/index.js';
import { sideBySide, versionsOf } from './side-by-side.mjs';

const url = process.argv[2] ?? 'postgres://localhost/postgres';
const MESSAGES = 60_000;
/** Of the peer, which takes longer. */
const FEWER = 10_000;
const ROUNDS = 3;
const BATCH = 100;
const SCHEMA = 'lazaret_bench';
const WORKER_SCHEMA = 'lazaret_bench_worker';
const body = new Uint8Array(200).fill(97);
const pool = new pg.Pool({ connectionString: url, max: 4 });

/** What a careful team writes itself: a batch claimed with SKIP LOCKED and a visibility timeout, deleted together with the next claim. */
const raw = {
  name: `raw pg, claim ${BATCH} and delete ${BATCH}`,
  async prepare() {
    await forget();
    await pool.query(`CREATE SCHEMA ${SCHEMA}`);
    await pool.query(`
      CREATE TABLE ${SCHEMA}.raw (seq bigserial PRIMARY KEY, visible_at timestamptz NOT NULL DEFAULT now(), token int NOT NULL DEFAULT 0, body bytea)
      WITH (fillfactor = 70)`);
    await pool.query(`CREATE INDEX ON ${SCHEMA}.raw (visible_at, seq)`);
    await pool.query(`INSERT INTO ${SCHEMA}.raw (body) SELECT $1 FROM generate_series(1, $2::int)`, [
      Buffer.from(body),
      MESSAGES,
    ]);
    await pool.query(`VACUUM ANALYZE ${SCHEMA}.raw`);
  },
  async run() {
    const text = `
      WITH done AS (DELETE FROM ${SCHEMA}.raw WHERE seq = ANY ($1::bigint[])),
      due AS (
        SELECT seq FROM ${SCHEMA}.raw WHERE visible_at <= now() ORDER BY visible_at, seq LIMIT $2 FOR UPDATE SKIP LOCKED
      )
      UPDATE ${SCHEMA}.raw SET visible_at = now() + interval '30 s', token = token + 1
      WHERE seq = ANY (ARRAY(SELECT seq FROM due)) RETURNING seq, body`;
    let seqs = [];
    for (let left = MESSAGES; left > 0 || seqs.length > 0; left -= seqs.length) {
      const { rows } = await pool.query({ name: 'raw', text, values: [`{${seqs.join(',')}}`, BATCH] });
      seqs = rows.map(({ seq }) => seq);
      for (const { body: bytes } of rows) if (bytes.length !== body.length) throw new Error('not what was stored');
    }
  },
};

const ours = (concurrency) => ({
  name: `lazaret, concurrency ${concurrency}`,
  async prepare() {
    await forget();
    const app = lazaret({ broker: postgres({ url, schema: SCHEMA }), logger: false });
    await app.start();
    for (let sent = 0; sent < MESSAGES; sent += 1_000) {
      await Promise.all(Array.from({ length: 1_000 }, (_, n) => app.send('bench', body, { id: `m-${sent + n}` })));
    }
    await app.stop();
    await pool.query(`VACUUM ANALYZE ${SCHEMA}.messages`);
  },
  async run() {
    const app = lazaret({ broker: postgres({ url, schema: SCHEMA }), logger: false });
    let left = MESSAGES;
    await new Promise((resolve, reject) => {
      app.consume('bench', { concurrency }, async () => {
        if (--left === 0) resolve();
      });
      app.start().catch(reject);
    });
    await app.stop({ within: '10s' });
  },
});

const peer = {
  name: 'graphile-worker, localQueue',
  messages: FEWER,
  async prepare() {
    await forget();
    await runMigrations({ connectionString: url, schema: WORKER_SCHEMA });
    await pool.query(
      `SELECT ${WORKER_SCHEMA}.add_job('bench', json_build_object('n', n)) FROM generate_series(1, ${FEWER}) n`,
    );
    await pool.query(`VACUUM ANALYZE ${WORKER_SCHEMA}._private_jobs`);
  },
  async run() {
    let left = FEWER;
    let finish;
    const finished = new Promise((resolve) => (finish = resolve));
    const runner = await runWorker({
      connectionString: url,
      schema: WORKER_SCHEMA,
      noHandleSignals: true,
      logger: new Logger(() => () => undefined),
      preset: {
        worker: {
          schema: WORKER_SCHEMA,
          concurrentJobs: 100,
          maxPoolSize: 10,
          localQueue: { size: 500 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
      taskList: {
        bench: async () => {
          if (--left === 0) finish();
        },
      },
    });
    await finished;
    await runner.stop();
  },
};

async function forget() {
  await pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  await pool.query(`DROP SCHEMA IF EXISTS ${WORKER_SCHEMA} CASCADE`);
}

const { rows } = await pool.query('SHOW server_version');
await sideBySide({
  title: 'PostgreSQL, draining a full queue',
  versions: `PostgreSQL ${rows[0].server_version}, ${await versionsOf('pg', 'graphile-worker')}`,
  messages: MESSAGES,
  rounds: ROUNDS,
  contenders: [raw, ours(100), ours(10), peer],
  over: [
    ['lazaret, concurrency 100', raw.name, '>= 0.8'],
    ['lazaret, concurrency 100', peer.name, '>= 1.25'],
  ],
});
await forget();
await pool.end();
