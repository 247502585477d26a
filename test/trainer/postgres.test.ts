import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { trainerPython } from '../../examples/learn/support/programs';
import { childrenOf } from '../../examples/learn/support/surroundings';
import { withoutPassword } from '../../src/config/store-url';
import { EncryptedStore } from '../../src/store/encrypted-store';
import { openStore } from '../../src/store/open-store';
import { sizeOfWeights } from '../../src/training/activities/weights';
import { closedPort } from '../cli/closed-port';
import { runCommand, startCommand } from '../cli/command';
import { type Folder, makeFolder, poolAt } from '../cli/folder';
import { keyRing, keysText } from '../encryption/test-keys';
import { HAS_POSTGRES, POSTGRES_PASSWORD, PostgresServer } from '../support/postgres-server';

// What the TypeScript side writes into a real PostgreSQL, the trainer reads.
const withPostgres = HAS_POSTGRES ? describe : describe.skip;

jest.setTimeout(300_000);

/** Reads a key of a store as the trainer does, and prints what lies there and since when. */
const READ = `
import sys
from datetime import timezone
from conductor_trainer.encryption import read_encryption_keys
from conductor_trainer.store import open_store
url, key, *variable = sys.argv[1:]
try:
    found = open_store(url, read_encryption_keys(*variable) if variable else None).read(key)
except (RuntimeError, ValueError) as error:
    sys.exit(str(error))
if found is None:
    sys.exit(print("nothing"))
print(repr(found.content), found.modified_at.astimezone(timezone.utc).isoformat(timespec="milliseconds"))
`;

/** Keeps a checkpoint as the trainer does, twice, and fetches it elsewhere. */
const KEEP = `
import sys
from pathlib import Path
from conductor_trainer.checkpoint import Probe, Record
from conductor_trainer.checkpoint_cache import CheckpointCache
from conductor_trainer.store import open_store
url, folder = sys.argv[1:]
store, name = open_store(url, None), {"trainRun": "nightly", "name": "000001"}
place = "nightly/000001/model"
record = Record("same", "model", place, place, "a", "b", 400, 2, Probe([1, 2], [-0.5]), {})
one, other = (CheckpointCache(Path(folder) / each, store, most=4) for each in ("one", "other"))
weights = bytes(range(256)) * 40_000
(one.root / place).mkdir(parents=True)
(one.root / place / "model.safetensors").write_bytes(weights)
(one.root / place).with_name("RESULT.json").write_text(record.to_json())
print(one.keep(name) == record == one.keep(name), store.create("training/nightly/weights/000001.json", b""))
with other.located(Path(place)) as there:
    print((there / "model.safetensors").read_bytes() == weights)
`;

withPostgres('a store in PostgreSQL', () => {
  let server: PostgresServer;
  let folder: Folder;
  let python: string;
  let made = 0;

  beforeAll(async () => {
    [server, folder, python] = await Promise.all([PostgresServer.start(), makeFolder(), trainerPython()]);
  });

  afterAll(async () => {
    await server.close();
    await folder.remove();
  });

  /** The URL of a new one, with the password. */
  async function newStore(): Promise<string> {
    const url = server.url({ schema: `trained_${(made += 1)}` });
    await openStore(url, folder.path).migrate?.();
    return url;
  }

  async function read(url: string, key: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const options = { PYTHONPATH: resolve('trainer/src'), PGPASSWORD: POSTGRES_PASSWORD, ...env };
    const variable = 'KEYS' in env ? ['KEYS'] : [];
    const { stdout } = await promisify(execFile)(python, ['-c', READ, url, key, ...variable], {
      env: options,
    });
    return stdout.trim();
  }

  test('the trainer reads what workers wrote, with the password from the environment', async () => {
    const url = await newStore();
    const store = openStore(url, folder.path);
    await store.write('training/batch', Buffer.from("roll'outs"));
    const at = (await store.stat('training/batch'))?.modifiedAt.toISOString().replace('Z', '+00:00');
    const place = withoutPassword(url);
    expect(await read(place, 'training/batch')).toBe(`b"roll'outs" ${at}`);
    expect(await read(place.replace('postgres:', 'postgresql:'), 'training/other')).toBe('nothing');
  });

  test('it decrypts what lies there encrypted', async () => {
    const url = await newStore();
    await new EncryptedStore(openStore(url, folder.path), keyRing('a')).write('batch', Buffer.from('sealed'));
    expect(await read(withoutPassword(url), 'batch', { KEYS: keysText('a') })).toMatch(/^b'sealed' /);
  });

  test('a checkpoint that the trainer keeps there is fetched elsewhere, and workers see it', async () => {
    const url = await newStore();
    const env = { PYTHONPATH: resolve('trainer/src'), PGPASSWORD: POSTGRES_PASSWORD };
    const kept = promisify(execFile)(python, ['-c', KEEP, withoutPassword(url), folder.path], { env });
    expect((await kept).stdout).toBe('True False\nTrue\n');
    const store = openStore(url, folder.path);
    expect(await sizeOfWeights(store, { trainRun: 'nightly', name: '000001' })).toBe(10_240_000);
    // Two of its three pieces are equal.
    expect(await store.list('weights/')).toHaveLength(2);
  });

  test('what keeps it from reading is one sentence with a remedy', async () => {
    const url = await newStore();
    const place = withoutPassword(url);
    const refusal = (from: string, env: NodeJS.ProcessEnv = {}): Promise<string> =>
      read(from, 'batch', env).catch((error: unknown) => (error as { stderr: string }).stderr.trim());
    expect(await refusal(url)).toMatch(/^a password does not belong into --store.* set PGPASSWORD$/);
    expect(await refusal(place, { PGPASSWORD: 'wrong' })).toMatch(
      /cannot be read .*password authentication failed.*: check PGPASSWORD/,
    );
    expect(await refusal(withoutPassword(server.url({ schema: 'unmade' })))).toMatch(
      /cannot be read .*unmade.*: it has no schema yet: run "temporal-conductor store migrate"$/,
    );
    expect(await refusal(`${place}&sslmode=prefer`)).toMatch(/is none: expected sqlite:PATH, postgres:/);
    await server.run(`UPDATE trained_${made}.version SET version = 99`);
    expect(await refusal(place)).toMatch(/newer version .*version 99.*: update the trainer$/);
  });

  test('train up gives the trainer its URL by an argument, and the password by the environment alone', async () => {
    const url = await newStore();
    const baseUrl = `http://127.0.0.1:${await closedPort()}/v1`;
    const setting = { cwd: folder.path, env: { TRAINER_PYTHON: python } };
    await folder.write('conductor.yaml', poolAt('http://127.0.0.1:1'));
    const init = ['train', 'init', '--policy-server', baseUrl, '--example-questions'];
    expect(await runCommand(init, setting)).toMatchObject({ code: 0 });
    const config = await readFile(`${folder.path}/conductor.yaml`, 'utf8');
    await folder.write('conductor.yaml', `${config}\n${stringify({ store: url })}`);
    const up = startCommand(['train', 'up'], setting);
    await up.hear(/^Ready/m);
    const wordsOf = async (pid: number, name: string): Promise<string[]> =>
      (await readFile(`/proc/${pid}/${name}`, 'utf8')).split('\0');
    const children = childrenOf(up.pid);
    const commands = await Promise.all(children.map((pid) => wordsOf(pid, 'cmdline')));
    expect(commands.flat()).toContain(withoutPassword(url));
    expect(commands.flat().join(' ')).not.toContain(POSTGRES_PASSWORD);
    const trainer = children[commands.findIndex((words) => words.includes('conductor_trainer.worker'))] ?? 0;
    expect(await wordsOf(trainer, 'environ')).toContain(`PGPASSWORD=${POSTGRES_PASSWORD}`);
    up.signal('SIGINT');
    expect(await up.ended).toMatchObject({
      stdout: expect.not.stringContaining(POSTGRES_PASSWORD) as string,
    });
  });
});
