import { judgeReply, toProviderFailure } from '../../activities/models/failure';
import { chargeOf } from '../../budget/nano-usd';
import { ConfigError } from '../../config/errors';
import { keyFor } from '../../config/api-keys';
import { resolveRun } from '../../config/resolve-run';
import { configuredKeys } from '../../encryption/key-ring';
import { complete } from '../../local/complete';
import type { ConductorCard, ModelCard } from '../../protocol/cards';
import { openStore } from '../../store/open-store';
import { describeUsd } from '../../trace/describe';
import { oneLine, type Paint } from '../../trace/lines';
import type { Config } from '../../config/schema';
import { addOns } from '../add-ons';
import { EXIT, type ExitCode } from '../exit-code';
import { loadServable, type WorkOptions } from '../load-settings';
import { paintFor, print } from '../terminal';

/** `pool check`: calls the Conductor and each worker once, a line each; fails if any of them does. */
export async function checkPool(options: WorkOptions): Promise<ExitCode> {
  const config = await loadServable(options);
  const { workers } = resolveRun(config);
  const paint = paintFor(process.stdout);
  const width = Math.max(...['conductor', ...workers.map(({ id }) => id)].map((name) => name.length));
  let failures = 0;
  const report = async (name: string, ping: Ping): Promise<void> => {
    if (ping.problem !== null) failures += 1;
    await print(describePing(name.padEnd(width), ping, paint), { painted: true });
  };

  // One after the other: a limit on requests at once must not look like a broken worker.
  await report('conductor', await pingConductor(config));
  for (const worker of workers) {
    if (worker.kind === 'model') await report(worker.id, await pingModel(worker, config));
    else {
      const { id, kind, taskQueue } = worker;
      const what = `${kind} of your own on task queue ${taskQueue}: called by runs only`;
      await print(`${paint.faint('·')} ${id.padEnd(width)}  ${what}`, { painted: true });
    }
  }
  return failures === 0 ? EXIT.answered : EXIT.failed;
}

function describePing(name: string, { problem, latencyMs, tokens, nanoUsd }: Ping, paint: Paint): string {
  if (problem !== null) return `${paint.bad('✗')} ${name}  ${oneLine(problem, Infinity)}`;
  const facts = [
    `${latencyMs} ms`,
    tokens === null ? 'tokens unknown' : `${tokens} tokens`,
    nanoUsd === null ? 'cost unknown' : describeUsd(nanoUsd / 1e9),
  ];
  return `${paint.good('✓')} ${name}  ${facts.join(' · ')}`;
}

interface Ping {
  /** null when the model answered. */
  readonly problem: string | null;
  readonly latencyMs: number;
  /** Null if the provider did not say. */
  readonly tokens: number | null;
  /** Null if the provider did not say, or no price is known. */
  readonly nanoUsd: number | null;
}

const MESSAGES = [{ role: 'user', text: 'Reply with the single word: ready' }] as const;

/** Calls a model once, with the settings and the key that a run would use; a failure is a result too. */
async function pingModel(card: ConductorCard | ModelCard, config: Config, ask = complete): Promise<Ping> {
  const apiKey = keyFor(card, config, process.env);
  const signal = AbortSignal.timeout(card.timeoutMs);
  const { provider, model, timeoutMs, maxOutputTokens } = card;
  const worker = 'id' in card ? card.id : null;
  const context = { worker, provider, model, signal, secret: apiKey, timeoutMs };
  const start = performance.now();
  const since = (): number => Math.round(performance.now() - start);
  try {
    const reply = await ask({ card, messages: MESSAGES, maxOutputTokens, apiKey, signal });
    const judgement = judgeReply(reply, context);
    const { usage, reportedNanoUsd } = reply;
    return {
      problem: judgement.kind === 'answered' ? null : judgement.failure.message,
      latencyMs: since(),
      tokens: usage === null ? null : usage.inputTokens + usage.outputTokens,
      nanoUsd: chargeOf(usage, card.price, reportedNanoUsd),
    };
  } catch (error) {
    const problem = toProviderFailure(error, context)?.message ?? 'the call was broken off';
    return { problem, latencyMs: since(), tokens: null, nanoUsd: null };
  }
}

/** Calls the Conductor once; where it is a checkpoint, the one that would write the next run's plan. */
async function pingConductor(config: Config): Promise<Ping> {
  const run = resolveRun(config);
  const [policyOf] = addOns.flatMap((addOn) => addOn.policyOf ?? []);
  if (run.conductor.provider !== 'policy' || policyOf === undefined) return pingModel(run.conductor, config);
  const store = openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
  try {
    const policy = await policyOf(store, config);
    const { conductor } = await policy.bind(run);
    return await pingModel(conductor, config, policy.complete);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problem: error.message, latencyMs: 0, tokens: null, nanoUsd: null };
  }
}
