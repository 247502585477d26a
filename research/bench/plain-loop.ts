import { gzipSync } from 'node:zlib';
import { grade } from '../../src/grading/grade';
import type { Plan, Step } from '../../src/plan/plan';
import { conductorMessages } from '../../src/plan/prompt/conductor';
import { workerMessages } from '../../src/plan/prompt/worker';
import type { ModelCard } from '../../src/protocol/cards';
import type { KeptSample } from '../../src/training/activities/batch';
import { samplePrompts } from '../../src/training/activities/sample-plans';
import { checkpointId, type RolloutId } from '../../src/training/names';
import { chooseGroups, drawQuestions, samplingSeed } from '../../src/training/draw';
import { learnableParts, rewardOf } from '../../src/training/rewards';
import type { GroupId } from '../../src/training/records';
import type { BatchHeader, BatchRow, UpdateRequest } from '../../src/training/trainer-contract';
import { inWindow } from '../../src/workflows/parts';
import { planIn } from '../plain/group';
import { handOver } from '../plain/lesson';
import { toJsonLines } from '../world/questions';
import { type AskWorker, firstPolicy, type PlainPolicy, type PlainSetting, toPolicy } from './plain-setting';
import type { CycleFigures, Figures } from './tables';
import type { Question } from '../../src/grading/question';

export interface PlainUpdate {
  readonly request: UpdateRequest;
  /** Path of the batch file. */
  readonly batch: string;
  readonly rollouts: number;
}

/** A cycle of the plain loop. */
interface PlainCycle {
  readonly figures: CycleFigures;
  readonly policy: PlainPolicy;
  /** Null if there was nothing to learn from. */
  readonly update: PlainUpdate | null;
}

/**
 * Plays the cycles of a night in one plain program: the same questions, servers, windows, grades and updates, but
 * nothing that outlives the process. Measures all cycles but the first.
 */
export async function playPlainly(
  setting: PlainSetting,
): Promise<Figures & { readonly updates: readonly PlainUpdate[] }> {
  const cycles: PlainCycle[] = [await playCycle(setting, await firstPolicy(setting), 1)];
  const before = process.cpuUsage();
  for (let cycle = 2; cycle <= setting.settings.cycles; cycle += 1) {
    const policy = cycles.at(-1)?.policy ?? (await firstPolicy(setting));
    cycles.push(await playCycle(setting, policy, cycle));
  }
  const { user, system } = process.cpuUsage(before);
  return {
    cycles: cycles.slice(1).map(({ figures }) => figures),
    updates: cycles.flatMap(({ update }) => update ?? []),
    ownMs: (user + system) / 1000,
    serverMs: 0,
  };
}

async function playCycle(setting: PlainSetting, policy: PlainPolicy, cycle: number): Promise<PlainCycle> {
  const began = performance.now();
  const { groups, keep } = await rollOut(setting, policy, cycle);
  const rows = groups.filter((_, draw) => keep.includes(draw)).flat();
  const learned = rows.length === 0 ? null : await learn(setting, policy, cycle, rows);
  return {
    figures: {
      wallMs: performance.now() - began,
      learningMs: learned?.tookMs ?? 0,
      rollouts: groups.flat().length,
      weightsSha256: learned?.weightsSha256 ?? null,
    },
    policy: learned?.policy ?? policy,
    update: learned?.update ?? null,
  };
}

/** Plays all groups in parallel, and replaces those without spread. */
async function rollOut(setting: PlainSetting, policy: PlainPolicy, cycle: number) {
  const { seed, questions: wanted, maxDraws } = setting.settings;
  const { questions, topics } = setting;
  const source = { seed, topics, questions: wanted, cycle };
  const drawn = drawQuestions(source, maxDraws).flatMap((index) => questions[index] ?? []);
  const groups: (readonly BatchRow[] | null)[] = [];
  const underWay = new Set<Promise<void>>();
  for (;;) {
    const spreads = groups.map((group) => group && learnableParts(group, { keepFlat: false }).length > 0);
    const { keep, more } = chooseGroups(setting.settings, spreads);
    for (const question of drawn.slice(groups.length, groups.length + more)) {
      const draw = groups.push(null) - 1;
      const played = playGroup(setting, policy, { cycle, draw, question }).then((rows) => {
        groups[draw] = rows;
        underWay.delete(played);
      });
      underWay.add(played);
    }
    if (underWay.size === 0)
      return { groups: groups.flatMap((group) => (group === null ? [] : [group])), keep };
    await Promise.race(underWay);
  }
}

async function learn(setting: PlainSetting, policy: PlainPolicy, cycle: number, rows: readonly BatchRow[]) {
  const { settings, config, steps, root, policyServer } = setting;
  const { trainRun } = settings;
  const header: BatchHeader = {
    schema: 1,
    trainRun,
    cycle,
    policy: policy.checkpoint.name,
    rollouts: rows.length,
    temperature: settings.policy.temperature,
    tokenizerSha256: policy.tokenizerSha256,
  };
  const packed = gzipSync(toJsonLines([header, ...rows]));
  const { path, stored } = await handOver(root, `batch-${cycle}.jsonl.gz`, packed);
  const request = { trainRun, cycle, parent: policy.checkpoint, batch: stored, config };
  const began = performance.now();
  const { checkpoint } = await steps.update(request, path);
  const next = toPolicy(setting, checkpoint);
  await policyServer.load(next.served.model, next.served.folder, new AbortController().signal);
  return {
    policy: next,
    tookMs: performance.now() - began,
    weightsSha256: checkpoint.weightsSha256,
    update: { request, batch: path, rollouts: rows.length },
  };
}

/** Identity of a group. */
export interface PlainDraw {
  readonly cycle: number;
  readonly draw: number;
  readonly question: Question;
}

/** Plays the rollouts of one question and returns them as batch rows. */
async function playGroup(
  setting: PlainSetting,
  policy: PlainPolicy,
  { cycle, draw, question }: PlainDraw,
): Promise<readonly BatchRow[]> {
  const { settings, world, workers, askWorker: ask } = setting;
  const { trainRun, window, reward } = settings;
  const group: GroupId = { trainRun, purpose: 'training', cycle, draw, question: question.id };
  const samples = await samplePlans(setting, policy, { cycle, draw, question });
  const groupId = `${padded(cycle)}/${padded(draw)}/0`;
  return inWindow(samples, window, async (sample, rollout) => {
    const plan = planIn(world, sample.text);
    const team = { ask, workers, question: question.question, rollout: { ...group, rollout } };
    const verdict =
      plan === null ? 'unparseable' : (await grade(question, await carryOut(plan, team))).verdict;
    return {
      rolloutId: `${groupId}/${padded(rollout)}`,
      groupId,
      round: 0,
      policy: checkpointId(policy.checkpoint),
      promptTokenIds: [...sample.promptTokenIds],
      completionTokenIds: [...sample.completionTokenIds],
      sampledLogprobs: [...sample.sampledLogprobs],
      reward: rewardOf({ verdict, plan, nanoUsd: null }, reward),
      finishReason: sample.finishReason,
    };
  });
}

function samplePlans(
  { settings, workers }: PlainSetting,
  { served }: PlainPolicy,
  { cycle, draw, question }: PlainDraw,
): Promise<readonly KeptSample[]> {
  const { seed, groupSize, policy, run } = settings;
  const messages = conductorMessages({
    style: policy.prompt,
    question: question.question,
    workers,
    describe: policy.describe,
    access: policy.access,
    maxSteps: run.limits.steps,
    format: 'lists',
    repairs: [],
  });
  const task = {
    policy: served,
    prompts: Array<typeof messages>(groupSize).fill(messages),
    seed: samplingSeed({ seed, cycle, draw, round: 0, purpose: 'training' }),
    temperature: policy.temperature,
    maxTokens: policy.maxOutputTokens,
  };
  return samplePrompts(task, new AbortController().signal);
}

/** Pads to six digits, as in the product's batches. */
function padded(number: number): string {
  return String(number).padStart(6, '0');
}

/** A plan's question and rollout, and the workers that carry it out. */
export interface PlainTeam {
  readonly ask: AskWorker;
  readonly workers: readonly ModelCard[];
  readonly question: string;
  readonly rollout: RolloutId;
}

/** Carries out a plan, each step as soon as the outputs that it sees are there; returns the last output. */
async function carryOut({ steps }: Plan, team: PlainTeam): Promise<string> {
  const outputs: Promise<string>[] = [];
  for (const [index, step] of steps.entries())
    outputs.push(runStep(team, steps, outputs, { ...step, index }));
  const all = await Promise.all(outputs);
  return all.at(-1) ?? '';
}

async function runStep(
  { ask, workers, question, rollout }: PlainTeam,
  steps: readonly Step[],
  outputs: readonly Promise<string>[],
  { index, worker, subtask, sees }: Step & { readonly index: number },
): Promise<string> {
  const card = workers.find(({ id }) => id === worker);
  if (card === undefined) throw new Error(`The plan names an unknown worker, ${worker}.`);
  const seen = await Promise.all(
    sees.map(async (step) => ({
      step,
      subtask: steps[step]?.subtask ?? '',
      output: (await outputs[step]) ?? '',
    })),
  );
  const messages = workerMessages({ question, subtask, sees: seen, layout: card.layout });
  return ask({ card, messages, rollout, step: index });
}
