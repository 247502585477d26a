import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { trainerPython } from '../../../research/support/programs';

const MAKE = `
import json, sys
from pathlib import Path
from conductor_trainer.tiny_model import build_tiny
seed, folder = int(sys.argv[1]), Path(sys.argv[2])
base = dict(kind="tiny", vocabulary=400, hidden=16, layers=1, heads=2, keyValueHeads=1, feedForward=32,
            maxPositions=512, initializerRange=0.5)
texts = ["How much is 17 and 26 for this loop?", "model_id = [0]", "Model id 0"]
build_tiny(base, texts, seed, folder)
`;

/** Writes a model whose random weights depend on the seed alone; it writes nonsense within milliseconds. */
export async function makeTinyPolicy(folder: string, seed: number): Promise<void> {
  const env = {
    ...process.env,
    PYTHONPATH: resolve(__dirname, '../../../trainer/src'),
    OMP_NUM_THREADS: '1',
  };
  await promisify(execFile)(await trainerPython(), ['-c', MAKE, `${seed}`, folder], { env });
}
