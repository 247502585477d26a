import { writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { stringify } from 'yaml';
import { judgeReply, type ModelReply, type ModelRequest, toProviderFailure } from '../../activities/models';
import { withThoughtsApart } from '../../activities';
import { chargeOf } from '../../budget/nano-usd';
import { conductorsOf, resolveBaselines, resolveConductor, VENDORS } from '../../config/cards';
import { findPool } from '../../config/default-pool';
import { keyFor } from '../../config/api-keys';
import { resolveRun } from '../../config/resolve-run';
import { complete } from '../../local/complete';
import type { CalledCard, ConductorCard } from '../../protocol/cards';
import { describeUsd, joinFacts } from '../../trace/describe';
import { oneLine } from '../../trace/lines';
import type { Config, ConfigInput } from '../../config/schema';
import { adviceOnPool } from '../../config/pool-advice';
import { codeOf, reasonOf, UsageError } from '../../errors';
import { EXIT, type ExitCode } from '../kit/ending';
import { fileOf, loadServable, type WorkOptions } from '../kit/load-settings';
import { configuredStore } from '../../store/open-store';
import { paintFor, print, say } from '../kit/terminal';

/**
 * `pool check`: calls each Conductor, worker and baseline once, and prints a line for each; fails if a call does, or if a
 * worker whose card lists tools calls none.
 */
export async function checkPool(options: WorkOptions): Promise<ExitCode> {
  const config = await loadServable(options);
  const workers = [...resolveRun(config).workers, ...resolveBaselines(config)];
  const { good, bad, faint } = paintFor(process.stdout);
  const conductors = conductorsOf(config);
  const names = [...conductors.map(([place]) => place), ...workers.map(({ id }) => id)];
  const width = Math.max(...names.map(({ length }) => length));
  const report = (mark: string, name: string, text: string): Promise<void> =>
    print(`${mark} ${name.padEnd(width)}  ${oneLine(text, Infinity)}`, { painted: true });
  let failures = 0;
  const check = async (name: string, ping: Promise<string>): Promise<void> => {
    try {
      await report(good('✓'), name, await ping);
    } catch (error) {
      failures += 1;
      await report(bad('✗'), name, reasonOf(error));
    }
  };
  // Makes one call at a time: a concurrency limit must not look like a broken worker.
  for (const [place, section] of conductors) {
    await check(place, pingConductor(config, resolveConductor(section, new Date())));
  }
  for (const worker of workers) {
    if (worker.kind === 'model') await check(worker.id, pingModel(worker, config));
    else {
      const { id, kind, taskQueue } = worker;
      await report(faint('·'), id, `${kind} of your own on task queue ${taskQueue}: called by runs only`);
    }
  }
  return failures === 0 ? EXIT.answered : EXIT.failed;
}

const ASKED: Pick<ModelRequest, 'messages'> = {
  messages: [{ role: 'user', text: 'Reply with the single word: ready' }],
};

/** What a worker whose card lists tools is asked: compatible servers may accept tools for a model that never calls one. */
const ASKED_TO_CALL: Pick<ModelRequest, 'messages' | 'toolUse'> = {
  messages: [{ role: 'user', text: 'Call the tool "note" with the word ready, and write nothing else.' }],
  toolUse: {
    tools: [
      {
        name: 'note',
        description: 'Notes a word.',
        input: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
      },
    ],
    mayCall: true,
    turns: [],
  },
};

/** @throws Error that says why the call failed, or that it brought no call of a tool where the card lists some */
async function pingModel(card: CalledCard, config: Config, ask = complete): Promise<string> {
  const { timeoutMs, maxOutputTokens } = card;
  const asked = 'tools' in card ? ASKED_TO_CALL : ASKED;
  const apiKey = keyFor(card, config, process.env);
  const signal = AbortSignal.timeout(timeoutMs);
  const request = { card, ...asked, maxOutputTokens, apiKey, signal, timeoutMs };
  const start = performance.now();
  const reply = await ask(request).catch((error: unknown) => {
    const { message } = toProviderFailure(error, request) ?? { message: 'the call was broken off' };
    throw new Error(message, { cause: error });
  });
  const judgement = withThoughtsApart(judgeReply(reply, request), request);
  if (judgement.kind !== 'answered') throw new Error(judgement.failure.message);
  if (asked === ASKED_TO_CALL) checkCall(reply);
  const { usage, reportedNanoUsd, dropped } = reply;
  const nanoUsd = chargeOf(usage, card.price, reportedNanoUsd);
  return joinFacts(
    `${Math.round(performance.now() - start)} ms`,
    usage === null ? 'tokens unknown' : `${usage.inputTokens + usage.outputTokens} tokens`,
    nanoUsd === null ? 'cost unknown' : describeUsd(nanoUsd / 1e9),
    asked === ASKED_TO_CALL && 'calls tools',
    dropped.length > 0 && `asked without ${dropped.join(', ')}`,
  );
}

function checkCall({ turn = [] }: ModelReply): void {
  if (turn.some(({ kind }) => kind === 'call')) return;
  throw new Error(
    'it was asked to call a tool, and answered without a call: choose a model that calls tools, or remove "tools" from ' +
      'its card',
  );
}

/** Calls a Conductor once; if it is a checkpoint, the one that would write the next run's plan. */
async function pingConductor(config: Config, card: ConductorCard): Promise<string> {
  if (card.provider !== 'policy') return pingModel(card, config);
  const { createPolicyProvider } = await import('../../training/client/index.js');
  const policy = createPolicyProvider(configuredStore(config));
  const { conductor } = await policy.bind({ ...resolveRun(config), conductor: card });
  return pingModel(conductor, config, policy.complete);
}

/** JSON Schema beside the built package, see `scripts/write-schema.mjs`. */
const SCHEMA = join(__dirname, '..', '..', 'conductor.schema.json');

/** `init`: writes a `conductor.yaml` from the keys and servers of this machine. Never overwrites a file. */
export async function init(options: WorkOptions): Promise<ExitCode> {
  const file = fileOf(options);
  const pool = await findPool(process.env);
  if (pool === null) {
    const keys = Object.values(VENDORS).map(({ apiKeyEnv }) => apiKeyEnv);
    throw new UsageError(
      `no vendor's key and no model server was found: set one of ${keys.join(', ')}, or start a server such as ` +
        'Ollama, and run init again',
    );
  }
  try {
    await writeFile(file, renderPool(pool, file), { flag: 'wx' });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    throw new UsageError(`${file} exists already; name another file with --config`, { cause: error });
  }
  say(`Wrote ${file}: workers ${pool.workers.map(({ id }) => id).join(', ')}.`);
  const advice = adviceOnPool(pool);
  if (advice !== null) say(`${advice}.`);
  say(
    'Next: "temporal-conductor pool check" makes one tiny call to each, "temporal-conductor solve" asks them.',
  );
  return EXIT.answered;
}

function renderPool(pool: ConfigInput, file: string): string {
  const schema = relative(dirname(file), SCHEMA).replaceAll(sep, '/');
  return [
    `# yaml-language-server: $schema=${schema}`,
    '# Keys stay in the environment. Every setting is explained in docs/configuration.md of the package.',
    stringify({ ...pool, limits: { costUsd: 1, wallClock: '30m' } }, { lineWidth: 0 }),
  ].join('\n');
}
