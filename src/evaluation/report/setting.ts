import { createHash } from 'node:crypto';
import { conductorMessages } from '../../plan/prompt/conductor';
import { workerMessages } from '../../plan/prompt/worker';
import type { ConductorCard, ModelCard, ResolvedRun, RunWorker } from '../../protocol/cards';
import { readVersion } from '../../version';
import { conductorFor, modelsBeside } from '../cast';
import { readMethod } from '../methods/read-method';
import type { MadeWith, Manifest, MethodRecord } from '../results';
import type { Report } from './report';

/** Versions, and hashes of the prompts, that an evaluation begins with. */
export function madeWith({ conductor, workers, limits }: ResolvedRun): MadeWith {
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
  // Workers' own layouts and instructions are in the table.
  const sent = workerMessages({ question: '', subtask: '', sees: [], layout: 'tagged' });
  return {
    version: readVersion(),
    node: process.versions.node,
    prompts: { conductor: hashOf(asked), worker: hashOf(sent) },
  };
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** What another person needs to have the same evaluation made again: models with their settings, prompts and versions. */
export function describeSetting(
  evaluation: Pick<Manifest, 'run' | 'workers' | 'conductors' | 'verifier' | 'methods' | 'madeWith'>,
  records: readonly MethodRecord[],
): Report['parts'] {
  const { run, methods, madeWith: made } = evaluation;
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
  const rows = [
    ['conductor', ...describeModel(run.conductor)],
    ...run.workers.map((worker) => [worker.id, ...describeModel(worker)]),
    ...modelsBeside(evaluation).map(([role, card]) => [role, ...describeModel(card)]),
  ];
  const graders = [...new Set(records.flatMap(({ graderVersion }) => graderVersion ?? []))].sort();
  const versions =
    made &&
    `Made with temporal-conductor ${made.version} on Node ${made.node}. SHA-256 of the prompts without a question: ` +
      `Conductor ${made.prompts.conductor.slice(0, 16)}, worker ${made.prompts.worker.slice(0, 16)}. Graders: ` +
      `${graders.join(', ') || 'none'}. Limits of a run: ${run.limits.steps} steps, ${run.limits.calls} calls.`;
  const isFree = isFreeOfCharge(evaluation);
  const asksAlone = methods.some((method) => /^(?:worker|best-of|vote|reflection):/.test(method));
  return [
    { rows: [head, ...rows], numeric: false },
    ...(asksAlone ? [FORMS] : []),
    ...(isFree ? [FREE] : []),
    ...(versions === undefined ? [] : [versions]),
  ];
}

const FORMS =
  'Workers of worker, best-of, vote and reflection were sent the question alone, but for their own instructions and the number of ' +
  'an attempt; with :team behind the name, a subtask as members of a team.';

const FREE =
  'Tokens of a trained Conductor are booked at no cost, so that costs above are too low: say by its "price:" what they ' +
  'cost. A GPU at $2 an hour that takes and writes 1,000 tokens a second makes $0.56 per million.';

/** Whether some method asks a checkpoint, and the configuration does not say what its tokens cost. */
function isFreeOfCharge(evaluation: Pick<Manifest, 'methods' | 'workers' | 'run' | 'conductors'>): boolean {
  return evaluation.methods.some((name) => {
    const { method } = readMethod(name, evaluation);
    if (method.kind !== 'conductor') return false;
    const { provider, priceVersion } = conductorFor(evaluation, method.named);
    return provider === 'policy' ? priceVersion !== 'card' : method.change?.checkpoint !== undefined;
  });
}

function describeModel(card: ConductorCard | RunWorker): string[] {
  if (!('provider' in card)) return [card.type, `${card.kind} on ${card.taskQueue}`, '–', '–', '–', '–', '–'];
  const { model, provider, baseUrl, temperature, effort, maxOutputTokens, price } = card;
  const checkpoint = 'checkpoint' in card ? card.checkpoint : undefined;
  // An address may hold a key.
  const place = baseUrl === null ? provider : `${provider}, ${new URL(baseUrl).host}`;
  return [
    checkpoint ?? model,
    place,
    temperature === null ? "the vendor's" : String(temperature),
    effort ?? "the vendor's",
    furtherSettings(card),
    String(maxOutputTokens),
    price === null ? 'unknown' : `${price.input} in, ${price.output} out`,
  ];
}

function furtherSettings(card: ConductorCard | ModelCard): string {
  const { topP, topK, presencePenalty, thinking, extraBody } = card;
  // How a checkpoint is asked, its manifest decides.
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
