import { hash } from 'node:crypto';
import { ConfigError } from '../../config/errors';
import { FREE_TOKENS, isFreeOfCharge } from '../../config/resolve-run';
import { conductorMessages } from '../../plan/prompt/conductor';
import { workerMessages } from '../../plan/prompt/worker';
import type { CalledCard, ConductorCard, ResolvedRun, RunWorker } from '../../protocol/cards';
import { counted } from '../../trace/describe';
import { readVersion } from '../../runtime/version';
import { conductorFor, modelsBeside } from '../cast';
import { readMethod } from '../methods/read-method';
import type { MadeWith, EvaluationManifest, MethodRecord } from '../results';
import { groupBy } from '../../statistics/tally';
import type { Report } from '../../report/report';

/** Returns the versions and the prompt hashes that an evaluation begins with. */
export function madeWith(run: ResolvedRun, conductors: EvaluationManifest['conductors'] = {}): MadeWith {
  const prompted = Object.entries(conductors).filter(([, { provider }]) => provider !== 'policy');
  // Hashes the default prompt: workers' own layouts and instructions are in the manifest.
  const sent = workerMessages({ question: '', subtask: '', sees: [], layout: 'tagged' });
  return {
    version: readVersion(),
    node: process.versions.node,
    prompts: {
      conductor: hashOfPrompt(run),
      conductors: Object.fromEntries(
        prompted.map(([name, conductor]) => [name, hashOfPrompt({ ...run, conductor })]),
      ),
      worker: hash('sha256', JSON.stringify(sent)),
    },
  };
}

function hashOfPrompt({ conductor, workers, limits }: ResolvedRun): string {
  const asked = conductorMessages({
    question: '',
    style: conductor.prompt ?? 'full',
    examples: conductor.examples,
    workers,
    describe: conductor.describe,
    access: conductor.access,
    subtasks: conductor.subtasks,
    maxSteps: limits.steps,
    format: conductor.capabilities.jsonSchema ? 'json' : 'lists',
    repairs: [],
  });
  return hash('sha256', JSON.stringify(asked));
}

type Models = Pick<EvaluationManifest, 'run' | 'workers' | 'conductors' | 'baselines' | 'verifier'>;

/** Checkpoint that wrote plans, and its role: `conductor`, `conductor:NAME`, or the method that names it. */
interface Writer {
  readonly role: string;
  readonly checkpoint: string;
  /** Run with the prompt settings of the checkpoint's manifest; null if that cannot be read. */
  readonly run: ResolvedRun | null;
}

/** Applies the prompt settings of a checkpoint's manifest to a run. Throws ConfigError if it cannot be read. */
export interface CheckpointBinder {
  bind(run: ResolvedRun, checkpoint: string): Promise<ResolvedRun>;
}

/** Reads the prompt settings of the checkpoints that wrote plans. */
export async function readWriters(
  evaluation: Models,
  records: readonly MethodRecord[],
  binder: CheckpointBinder | undefined,
): Promise<Writer[]> {
  const asked = records.flatMap(({ method: name, checkpoint }) => {
    if (checkpoint === undefined) return [];
    const { method } = readMethod(name, evaluation);
    const { named, change } = method.kind === 'conductor' ? method : {};
    const own = named ?? change?.checkpoint;
    const role = own === undefined ? 'conductor' : `conductor:${own}`;
    return [[`${role} ${checkpoint}`, { role, checkpoint, named }] as const];
  });
  return Promise.all(
    [...new Map(asked).values()].map(async ({ role, checkpoint, named }) => {
      const run = { ...evaluation.run, conductor: conductorFor(evaluation, named) };
      return { role, checkpoint, run: (await binder?.bind(run, checkpoint).catch(nullIfGone)) ?? null };
    }),
  );
}

function nullIfGone(error: unknown): null {
  if (error instanceof ConfigError) return null;
  throw error;
}

/** Describes what is needed to reproduce an evaluation: models with their settings, prompts and versions. */
export function describeSetting(
  evaluation: Models & Pick<EvaluationManifest, 'methods' | 'madeWith'>,
  records: readonly MethodRecord[],
  writers: readonly Writer[] = [],
): Report['parts'] {
  const { run, madeWith: made } = evaluation;
  const head = [
    'role',
    'model',
    'served by',
    'temperature',
    'effort',
    'further settings',
    'most output tokens',
    'USD per million tokens',
  ];
  const beside = modelsBeside(evaluation);
  const roles = new Set(['conductor', ...beside.map(([role]) => role)]);
  const rows = [
    ...rowsOf('conductor', run.conductor, writers),
    ...run.workers.map((worker) => [worker.id, ...describeModel(worker)]),
    ...beside.flatMap(([role, card]) => rowsOf(role, card, writers)),
    ...writers.filter(({ role }) => !roles.has(role)).map(describeWriter),
  ];
  const graders = [...new Set(records.flatMap(({ graderVersion }) => graderVersion ?? []))].sort();
  const versions =
    made &&
    `Made with temporal-conductor ${made.version} on Node ${made.node}. SHA-256 of the prompts without a question: ` +
      `${hashesOf(made, run, writers)}. Graders: ` +
      `${graders.join(', ') || 'none'}. Limits of a run: ${run.limits.steps} steps, ${run.limits.calls} calls.`;
  const asksAlone = evaluation.methods.some((method) => /^(?:worker|best-of|vote|reflection):/.test(method));
  return [
    { rows: [head, ...rows], numeric: false },
    ...changesIn(writers),
    ...(asksAlone ? [FORMS] : []),
    ...(asksForFree(evaluation.methods, evaluation) ? [FREE_TOKENS] : []),
    ...(versions === undefined ? [] : [versions]),
  ];
}

/** Returns a row for the card and for each checkpoint that wrote its plans; with checkpoints, a policy has none. */
function rowsOf(role: string, card: ConductorCard | RunWorker, writers: readonly Writer[]): string[][] {
  const own = writers.filter((writer) => writer.role === role).map(describeWriter);
  const isKnown = own.length > 0 && 'provider' in card && card.provider === 'policy';
  return isKnown ? own : [[role, ...describeModel(card)], ...own];
}

function describeWriter({ role, checkpoint, run }: Writer): string[] {
  return [role, ...(run === null ? [checkpoint, 'policy', ...UNKNOWN] : describeModel(run.conductor))];
}

/** Returns a sentence for each Conductor whose plans several checkpoints wrote. */
function changesIn(writers: readonly Writer[]): string[] {
  return [...groupBy(writers, ({ role }) => role)].flatMap(([role, { length }]) =>
    length === 1
      ? []
      : [
          `${counted(length, 'checkpoint')} wrote the plans of ${role}, because the serving checkpoint ` +
            'changed during the evaluation; its figures belong to no single checkpoint.',
        ],
  );
}

/** Returns shortened hashes of the prompts; a checkpoint's prompt is from its manifest, not the configuration. */
function hashesOf({ prompts }: MadeWith, { conductor }: ResolvedRun, writers: readonly Writer[]): string {
  const hashes = [
    ...(conductor.provider === 'policy' ? [] : [['Conductor', prompts.conductor] as const]),
    ...Object.entries(prompts.conductors ?? {}).map(([name, hash]) => [`conductor:${name}`, hash] as const),
    ...writers.map(
      ({ checkpoint, run }) => [checkpoint, run === null ? 'unknown' : hashOfPrompt(run)] as const,
    ),
    ['worker', prompts.worker] as const,
  ];
  return [...new Set(hashes.map(([name, hash]) => `${name} ${hash.slice(0, 16)}`))].join(', ');
}

const FORMS =
  'Workers in worker, best-of, vote and reflection were sent only the question, their own instructions and the number of the ' +
  'attempt; with :team after the name, a subtask, as members of a team.';

/** Whether a method uses a checkpoint without a configured price of its tokens. */
export function asksForFree(methods: readonly string[], models: Omit<Models, 'workers'>): boolean {
  const cast = { ...models, workers: models.run.workers.map(({ id }) => id) };
  return methods.some((name) => {
    const { method } = readMethod(name, cast);
    if (method.kind !== 'conductor') return false;
    const card = conductorFor(models, method.named);
    return card.provider === 'policy' ? isFreeOfCharge(card) : method.change?.checkpoint !== undefined;
  });
}

/** Cells of a row after the column `served by`. */
const UNKNOWN = Array<string>(5).fill('–');

function describeModel(card: ConductorCard | RunWorker): string[] {
  if (!('provider' in card)) return [card.type, `${card.kind} on ${card.taskQueue}`, ...UNKNOWN];
  const { model, provider, baseUrl, temperature, effort, maxOutputTokens, price } = card;
  const checkpoint = 'checkpoint' in card ? card.checkpoint : undefined;
  const unset = provider === 'policy' ? '–' : "the vendor's";
  // Shows only the host, since a URL may contain a key.
  const place = baseUrl === null ? provider : `${provider}, ${new URL(baseUrl).host}`;
  return [
    checkpoint ?? model,
    place,
    temperature === null ? unset : String(temperature),
    effort ?? unset,
    furtherSettings(card),
    String(maxOutputTokens),
    price === null ? 'unknown' : `${price.input} in, ${price.output} out`,
  ];
}

function furtherSettings(card: CalledCard): string {
  const { topP, topK, presencePenalty, thinking, extraBody } = card;
  // For a checkpoint, its manifest decides these.
  const { describe, access } = 'describe' in card && card.provider !== 'policy' ? card : {};
  const settings = {
    describe,
    access,
    topP,
    topK,
    presencePenalty,
    thinking: thinking === 0 ? 'off' : thinking,
    ...extraBody,
  };
  const said = Object.entries(settings).filter(([, value]) => value !== undefined);
  return said.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ') || '–';
}
