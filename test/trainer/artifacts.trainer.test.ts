import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { trainerPython } from '../../research/support/programs';
import { parseTrainable } from '../../src/training/config';
import { openFiles, openSealed, sizeOfWeights } from '../../src/training/client';
import { keysText } from '../encryption/test-keys';
import { freshFolder } from '../local/fresh-folder';
import { type S3Server, startS3Server } from '../support/s3-server';

// Exchanges artifacts between TypeScript and Python, in a folder and in a bucket.

jest.setTimeout(300_000);

const KEYS = 'ARTIFACT_KEYS';

/** Python program that reads the artifact that a request names, and prints it. */
const READ = `
import sys
from conductor_trainer.artifacts import open_artifacts, stored_file
from conductor_trainer.encryption import read_encryption_keys
url, key, sha256 = sys.argv[1:]
keys = read_encryption_keys("${KEYS}")
with stored_file(open_artifacts(url), keys, {"key": key, "sha256": sha256}) as path:
    print(path.read_text())
`;

/** Python program that keeps a checkpoint twice, as the trainer does, and fetches it into another cache. */
const KEEP = `
import sys
from pathlib import Path
from conductor_trainer.artifacts import open_artifacts
from conductor_trainer.checkpoint import Probe, Record
from conductor_trainer.checkpoint_cache import CheckpointCache
url, folder = sys.argv[1:]
artifacts, name = open_artifacts(url), {"trainRun": "nightly", "name": "000001"}
place = "nightly/000001/model"
record = Record("same", "model", place, place, "a", "b", 400, 2, Probe([1, 2], [-0.5]), {})
one, other = (CheckpointCache(Path(folder) / each, artifacts, most=4) for each in ("one", "other"))
weights = bytes(range(256)) * 40_000
(one.root / place).mkdir(parents=True)
for file in ("model", "again"):
    (one.root / place / f"{file}.safetensors").write_bytes(weights)
(one.root / place).with_name("RESULT.json").write_text(record.to_json())
print(one.keep(name) == record == one.keep(name))
print(artifacts.create("training/nightly/weights/000001.json", b""), artifacts.create("new", b""))
with other.located(Path(place)) as there:
    print((there / "model.safetensors").read_bytes() == weights)
`;

describe.each(['a folder', 's3://bucket/below'])('artifacts in %s', (place) => {
  let folder: string;
  let url: string;
  let python: string;
  let server: S3Server | undefined;

  beforeAll(async () => {
    folder = await freshFolder();
    python = await trainerPython();
    await mkdir(join(folder, 'buckets', 'bucket'), { recursive: true });
    const isBucket = place.startsWith('s3:');
    url = isBucket ? place : join(folder, 'artifacts');
    server = isBucket ? await startS3Server(join(folder, 'buckets')) : undefined;
    Object.assign(process.env, server?.env, { [KEYS]: keysText('b') });
  });

  afterAll(() => server?.close());

  async function say(program: string, ...words: readonly string[]): Promise<string> {
    const env = { ...process.env, PYTHONPATH: resolve('trainer/src') };
    return (await promisify(execFile)(python, ['-c', program, ...words], { env })).stdout;
  }

  test.each(['training/nightly/cycles/000001/batch.jsonl.gz', `examples/${'ab'.repeat(32)}.jsonl`])(
    'only the trainer can read what a worker encrypted under %s',
    async (key) => {
      const model = { provider: 'openai', model: 'm' } as const;
      const config = parseTrainable({
        conductor: model,
        workers: [{ ...model, id: 'w' }],
        encryption: { keyEnv: KEYS },
        training: {
          artifacts: url,
          data: { train: 'a', heldOut: 'b' },
          base: { kind: 'tiny' },
          policy: { baseUrl: 'http://127.0.0.1:9/v1' },
        },
      });
      await openSealed(config).write(key, Buffer.from('a secret prompt'));
      const sha256 = createHash('sha256').update('a secret prompt').digest('hex');
      expect(await say(READ, url, key, sha256)).toBe('a secret prompt\n');
      const files = openFiles(url);
      for (const name of await files.list(key.replace(/[^/]*$/, '')))
        expect(String(await files.read(name))).not.toContain('secret');
      process.env[KEYS] = keysText('a');
      await expect(say(READ, url, key, sha256)).rejects.toThrow();
      process.env[KEYS] = keysText('b');
    },
  );

  test('a checkpoint that the trainer keeps there can be fetched elsewhere, and workers see it', async () => {
    expect(await say(KEEP, url, folder)).toBe('True\nFalse True\nTrue\n');
    const files = openFiles(url);
    expect(await sizeOfWeights(files, { trainRun: 'nightly', name: '000001' })).toBe(20_480_000);
    // Its two files are equal and are stored once.
    expect(await files.list('weights/')).toHaveLength(1);
  });
});
