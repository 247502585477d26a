// Measures `cost` over a large ledger: `npm run build && node bench/programs/million-rows.mjs [ROWS] [STORE]`. STORE
// is a new file by default, or an empty database such as postgres://USER@HOST/DATABASE.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../lib/store/open-store.js';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const STORE = process.argv[3] ?? 'sqlite:store.db';
const load = createRequire(new URL('../../package.json', import.meta.url));
const MAIN = fileURLToPath(new URL('../../lib/cli/main.js', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'million-rows-'));
const config = `
conductor: { provider: openai, model: gpt-6-sol, apiKeyEnv: KEY }
workers: [{ id: sol, provider: openai, model: gpt-6-sol, apiKeyEnv: KEY }]
store: "${STORE}"
`;
await writeFile(join(folder, 'conductor.yaml'), config);
const store = openStore(STORE, folder);
await store.migrate?.();
await store.write('first', Buffer.alloc(0));
await (STORE.startsWith('postgres') ? fillPostgres() : fillSqlite());
console.log(`${ROWS} rows in ${store.url}`);

const peakHook = join(folder, 'peak.cjs');
await writeFile(
  peakHook,
  "process.on('exit', () => require('fs').writeSync(2, `\\n${process.resourceUsage().maxRSS}\\n`));",
);
for (const by of ['day', 'day', 'worker', 'model', 'workflow']) {
  const args = ['--require', peakHook, MAIN, 'cost', '--by', by, '--utc', '--json', '--trust'];
  const begin = performance.now();
  const env = { ...process.env, KEY: 'none' };
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, maxBuffer: 1e9, env });
  const seconds = (performance.now() - begin) / 1000;
  const { lines, total } = JSON.parse(stdout.toString());
  const peak = Math.round(Number(stderr.toString().trim().split('\n').at(-1)) / 1024);
  console.log(
    `cost --by ${by}: ${seconds.toFixed(2)} s, ${peak} MB at most; ${lines.length} lines, ${total.calls} calls`,
  );
}
if (process.env.KEEP) console.log(folder);
else await rm(folder, { recursive: true });

/** Inserts a year of calls, ten per run, in the store's own format. */
function fillSqlite() {
  const database = new (load('libsql'))(join(folder, 'store.db'));
  database.exec(`
  BEGIN;
  WITH RECURSIVE calls(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM calls WHERE n < ${ROWS - 1})
  INSERT INTO entries (key, modified, bytes)
  SELECT format('ledger/%08x-0000-4000-8000-000000000000/%064x/1.json', (n / 10) * 2654435761 % 4294967296, n), 0,
    CAST(json_object('callId', format('%064x', n), 'rootId', 'solve-' || (n / 10), 'workflowId', 'solve-' || (n / 10),
      'runId', format('%08x-0000-4000-8000-000000000000', (n / 10) * 2654435761 % 4294967296), 'purpose', 'step', 'round', 0,
      'step', n % 5, 'attempt', 1, 'worker', 'worker-' || (n % 7), 'model', 'gpt-6-sol', 'error', NULL,
      'usage', json_object('inputTokens', 1000 + n % 100, 'outputTokens', 300, 'cachedInputTokens', 0, 'reasoningTokens', 0),
      'nanoUsd', 4000000 + n, 'priceVersion', 'card',
      'startedAt', strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + n * 31536000.0 / ${ROWS}, 'unixepoch'),
      'endedAt', strftime('%Y-%m-%dT%H:%M:%fZ', 1767225601 + n * 31536000.0 / ${ROWS}, 'unixepoch')) AS BLOB)
  FROM calls;
  COMMIT;
`);
  database.close();
}

async function fillPostgres() {
  const client = new (load('pg').Client)(STORE);
  await client.connect();
  const at = (seconds) =>
    `to_char(to_timestamp(${seconds} + n * 31536000.0 / ${ROWS}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  await client.query(`
    INSERT INTO conductor.entries (key, modified, bytes)
    SELECT format('ledger/%s-0000-4000-8000-000000000000/%s/1.json', run, lpad(to_hex(n), 64, '0')), now(),
      convert_to(json_build_object('callId', lpad(to_hex(n), 64, '0'), 'rootId', 'solve-' || n / 10,
        'workflowId', 'solve-' || n / 10, 'runId', run || '-0000-4000-8000-000000000000', 'purpose', 'step', 'round', 0,
        'step', n % 5, 'attempt', 1, 'worker', 'worker-' || n % 7, 'model', 'gpt-6-sol', 'error', NULL,
        'usage', json_build_object('inputTokens', 1000 + n % 100, 'outputTokens', 300, 'cachedInputTokens', 0,
          'reasoningTokens', 0),
        'nanoUsd', 4000000 + n, 'priceVersion', 'card', 'startedAt', ${at(1767225600)}, 'endedAt', ${at(1767225601)}
      )::text, 'UTF8')
    FROM (SELECT n, lpad(to_hex(n / 10 * 2654435761 % 4294967296), 8, '0') AS run
      FROM generate_series(0, ${ROWS - 1}) AS n) AS calls`);
  await client.query('VACUUM ANALYZE conductor.entries');
  await client.end();
}
