import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { codeOf, UsageError } from '../../errors';
import { listen } from '../../network/listen';
import type { TrainingConfig } from '../../training/config';
import { serversOf } from '../../training/names';
import type { Supervised } from '../kit/supervise';
import { say } from '../kit/terminal';
import { findVllm, starting, type TrainerPrograms } from './find-python';
import { layerModulesOf } from './layer-modules';
import { askHealth } from './night-parts';

type Serving = NonNullable<TrainingConfig['policy']['serve']>;

/**
 * Returns the policy servers that are missing at addresses of this machine, if they can be started: vLLM where the
 * configuration says so, else ours for CPUs. @throws UsageError if vLLM cannot be started
 */
export async function policyServersOf(
  training: TrainingConfig,
  programs: TrainerPrograms,
): Promise<Supervised[]> {
  const servers = serversOf(training.policy).map((baseUrl) => serverAt(baseUrl, training, programs));
  return (await Promise.all(servers)).flat();
}

async function serverAt(
  baseUrl: string,
  training: TrainingConfig,
  programs: TrainerPrograms,
): Promise<Supervised[]> {
  const { serve } = training.policy;
  const answers = (await askHealth(baseUrl, 2_000))?.ok === true;
  if (!answers && isHere(baseUrl)) {
    if (serve !== undefined) return [await vllmAt(baseUrl, training, serve, programs)];
    if (training.trainer.device === 'cpu') return [ownServerAt(baseUrl, training, programs)];
  }
  const missing = answers ? '' : ', where nothing answers yet: start vLLM there, see docs/gpu.md';
  say(`Policies    ${baseUrl}, a server that was started elsewhere${missing}`);
  return [];
}

const NAME = 'policy server';

function ownServerAt(baseUrl: string, training: TrainingConfig, programs: TrainerPrograms): Supervised {
  const line = `Policies    ${baseUrl}, on this machine's processor`;
  return { name: NAME, start: starting(programs, 'policy-server', training, addressOf(baseUrl), { line }) };
}

async function vllmAt(
  baseUrl: string,
  training: TrainingConfig,
  serve: Serving,
  programs: TrainerPrograms,
): Promise<Supervised> {
  await requireFreeAddress(baseUrl);
  const started = {
    line: `Policies    ${baseUrl}, vLLM ${placeOf(training, serve)}`,
    command: [findVllm(), ...(await vllmOptions(training, serve))],
    env: {
      VLLM_ALLOW_RUNTIME_LORA_UPDATING: '1',
      HF_HUB_OFFLINE: '1',
      ...(training.policy.sleepDuringUpdate && { VLLM_SERVER_DEV_MODE: '1' }),
      ...(serve.gpus && { CUDA_VISIBLE_DEVICES: serve.gpus.join(',') }),
    },
  };
  const program = training.trainer.tuning.kind === 'lora' ? 'fetching-server' : 'restarting-server';
  return { name: NAME, start: starting(programs, program, training, addressOf(baseUrl), started) };
}

function isHere(baseUrl: string): boolean {
  return ['127.0.0.1', 'localhost'].includes(new URL(baseUrl).hostname);
}

function addressOf(baseUrl: string): string[] {
  const { hostname, port } = new URL(baseUrl);
  return ['--host', hostname, '--port', port === '' ? '80' : port];
}

/** Refuses a taken address now, not once vLLM has loaded for a minute. @throws UsageError */
async function requireFreeAddress(baseUrl: string): Promise<void> {
  const { hostname, port } = new URL(baseUrl);
  const tried = await listen(createServer(), Number(port || 80), hostname).catch((cause: unknown) => {
    if (codeOf(cause) !== 'EADDRINUSE') throw cause;
    throw new UsageError(
      `${baseUrl} is taken by a program that is no policy server, so vLLM cannot be started there: stop that program, or ` +
        'name another port in training.policy.baseUrl',
      { cause },
    );
  });
  await tried.close();
}

/** Ranks that vLLM has room for. */
const RANKS = [1, 8, 16, 32, 64, 128, 256, 320, 512] as const;

/** Adapters that one batch of vLLM may mix: those of the night, of its gate and of users. */
const MOST_ADAPTERS = 4;

/** Returns the options of vLLM's server that a night needs; `{port}`, `{folder}` and `{model}` are filled in later. */
async function vllmOptions(
  { base, policy, trainer }: TrainingConfig,
  { gpus, memoryShare }: Serving,
): Promise<string[]> {
  const { tuning, device, precision } = trainer;
  const adapted = tuning.kind === 'lora' && base.kind === 'folder' ? resolve(base.path) : null;
  const model =
    tuning.kind === 'lora' && adapted !== null
      ? [
          ['--model', adapted, '--enable-lora', '--max-loras', `${MOST_ADAPTERS}`],
          ['--max-lora-rank', `${RANKS.find((rank) => rank >= tuning.rank) ?? tuning.rank}`],
        ].flat()
      : ['--model', '{folder}', '--served-model-name', '{model}'];
  return [
    ['-m', 'vllm.entrypoints.openai.api_server', ...model],
    ['--host', '127.0.0.1', '--port', '{port}', '--dtype', precision],
    ['--max-model-len', `${policy.maxPromptTokens + policy.maxOutputTokens}`],
    ['--logprobs-mode', 'processed_logprobs', '--gpu-memory-utilization', `${memoryShare}`],
    ['--tensor-parallel-size', `${gpus?.length ?? 1}`],
    policy.sleepDuringUpdate ? ['--enable-sleep-mode'] : [],
    device === 'cpu' ? await processorOptions(adapted) : [],
  ].flat();
}

/** Returns what vLLM needs on a processor. @param adapted folder of the model that adapters are for, or null */
async function processorOptions(adapted: string | null): Promise<string[]> {
  const modules = adapted === null ? [] : await layerModulesOf(adapted);
  return [
    // Compiling takes minutes and gains little.
    '--enforce-eager',
    // With room for adapters in the head, 0.32 dies of requests for a prompt's probabilities beside others.
    ...(modules.length > 0 ? ['--lora-target-modules', ...modules] : []),
  ];
}

function placeOf({ trainer }: TrainingConfig, { gpus, memoryShare }: Serving): string {
  if (trainer.device === 'cpu') return "on this machine's processor";
  const cards = gpus === undefined ? 'the first GPU' : `GPU ${gpus.join(', ')}`;
  return `on ${cards}, with ${Math.round(100 * memoryShare)} % of its memory`;
}
