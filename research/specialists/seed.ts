import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Plan } from '../../src/plan/plan';
import { readRecord, writeRecord } from '../../src/store/records';
import { ArtifactFolder } from '../../src/training/artifacts';
import { rightPlansSchema } from '../../src/training/records';
import { type Checkpoint, checkpointSchema } from '../../src/training/trainer-contract';
import { unlessAborted } from '../../src/runtime/turns';
import { startStepServer } from '../plain/lesson';
import { mean } from '../plain/scoring';
import { needProcesses, runPython } from '../support/programs';
import type { Crew } from './crew';
import { cyclesOf, type Desk, learn, type Lesson, LESSONS, warmUp } from './learn';
import { type Played, writePlans } from './play';
import { compositionSets, HELD_OUT_PAIRS, questionSet } from './questions';
import type { Recipe } from './recipe';
import { type Exam, type Scores, scoresSchema, scoreSets } from './scores';

// Training of one Conductor. Its state is stored after every cycle, so that a killed run resumes, and its scores are
// stored at the end.

const pointSchema = z.object({ cycle: z.number(), accuracy: z.record(z.string(), z.number()) });

const shownSchema = z.object({ question: z.string(), plans: z.array(z.string()) });

const madeSchema = checkpointSchema.extend({ folder: z.string() });

const waySchema = z.object({
  lesson: z.enum(LESSONS),
  curve: z.array(pointSchema),
  warm: scoresSchema,
  /** Plans for one question, before and after training. */
  shown: z.array(shownSchema),
});

const keptSchema = waySchema.extend({
  done: z.number(),
  checkpoint: madeSchema,
  writer: madeSchema,
  own: rightPlansSchema,
});
type Kept = z.infer<typeof keptSchema>;

const learnedSchema = waySchema.extend({
  /** Scores by what was changed in its plans. */
  learned: z.record(z.string(), scoresSchema),
});

/** Result of a Conductor's whole training. Scores by set: 1 for each question answered correctly, else 0. */
export type LearnedSeed = z.infer<typeof learnedSchema>;

/** Files in a seed's folder: after every cycle, and at the end. */
const KEPT = 'kept.json';
const LEARNED = 'learned.json';

/** Reads the seeds whose training is complete, by name. */
export async function readSeeds(root: string): Promise<Map<string, LearnedSeed>> {
  const found = (await readdir(root)).filter((name) => /^seed-\d+/.test(name));
  const names = found.sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  const seeds = new Map<string, LearnedSeed>();
  for (const name of names) {
    const learned = await readRecord(new ArtifactFolder(join(root, name)), LEARNED, learnedSchema);
    if (learned !== null) seeds.set(name, learned);
  }
  return seeds;
}

export interface SeedWish {
  readonly seed: number;
  readonly lesson: Lesson;
  readonly recipe: Recipe;
}

/** Trains a Conductor, or resumes its training, and returns its result. */
export async function runSeed(
  crew: Crew,
  root: string,
  wish: SeedWish,
  tell: (line: string) => void,
): Promise<LearnedSeed> {
  const trainRun = nameOf(wish);
  const folder = join(root, trainRun);
  await mkdir(folder, { recursive: true });
  const files = new ArtifactFolder(folder);
  const learned = await readRecord(files, LEARNED, learnedSchema);
  if (learned !== null) return learned;
  const earlier = await readRecord(files, KEPT, keptSchema);
  const { lost, need } = needProcesses(folder);
  const server = need(
    'policy server',
    await runPython('policy_server', ['--port', '0', '--device', wish.recipe.device]),
  );
  const { url } = z.object({ url: z.string() }).parse(server.ready);
  const steps = await startStepServer(root);
  const desk: Desk = { ...wish, crew, steps, policyUrl: `${url}/v1`, trainRun, folder };
  try {
    return await unlessAborted(lost, goOn(desk, earlier, tell));
  } finally {
    await Promise.all([steps.close(), server.stop()]);
  }
}

function nameOf({ seed, lesson }: Pick<SeedWish, 'seed' | 'lesson'>): string {
  return lesson === 'verdicts' ? `seed-${seed}` : `seed-${seed}-${lesson}`;
}

async function goOn(desk: Desk, earlier: Kept | null, tell: (line: string) => void): Promise<LearnedSeed> {
  const files = new ArtifactFolder(desk.folder);
  let kept = earlier ?? (await begin(desk));
  tell(`${desk.trainRun}: ${describePoint(kept.curve.at(-1))}`);
  const played: Played[] = [];
  const began = { at: performance.now(), done: kept.done };
  for await (const { played: latest, ...progress } of learn(desk, kept)) {
    const { writer: spare } = kept;
    played.push(...latest);
    kept = { ...kept, ...progress, own: [...progress.own] };
    if (kept.done % desk.recipe.lookedAtEach === 0) {
      kept.curve.push({ cycle: kept.done, accuracy: await lookAt(desk, kept.checkpoint) });
      const left = timeLeft(desk, began, kept.done);
      tell(`${desk.trainRun}: ${describePoint(kept.curve.at(-1))}; ${describe(played.splice(0))}; ${left}`);
    }
    await writeRecord(files, KEPT, kept);
    const needed = [kept.checkpoint.name, kept.writer.name, 'warm'];
    if (!needed.includes(spare.name)) await rm(dirname(spare.folder), { recursive: true });
  }
  const plans = await writeGreedily(desk, kept.checkpoint, desk.recipe.triedOn);
  const learned: LearnedSeed['learned'] = {};
  for (const [name, change] of Object.entries(CHANGES)) learned[name] = await score(desk, plans, change);
  const { lesson, curve, warm } = kept;
  const shown = [...kept.shown, await showPlans(desk, kept.checkpoint)];
  const result: LearnedSeed = { lesson, curve, warm, shown, learned };
  await writeRecord(files, LEARNED, result);
  return result;
}

async function begin(desk: Desk): Promise<Kept> {
  const checkpoint = await warmUp(desk);
  const warm = await score(desk, await writeGreedily(desk, checkpoint, desk.recipe.triedOn));
  const curve = [{ cycle: 0, accuracy: await lookAt(desk, checkpoint) }];
  const shown = [await showPlans(desk, checkpoint)];
  return {
    lesson: desk.lesson,
    done: 0,
    checkpoint,
    writer: checkpoint,
    own: [],
    curve,
    warm,
    shown,
  };
}

/** Samples plans for the first held-out pair, and describes each with its verdict. */
async function showPlans(desk: Desk, checkpoint: Checkpoint): Promise<Kept['shown'][number]> {
  const [row] = questionSet(HELD_OUT_PAIRS, 'heldOut', 1, 'shown');
  if (row === undefined) throw new RangeError('There is no held-out pair.');
  const played = await writePlans(desk, checkpoint, [row], { plans: 3, temperature: 1, seed: 0 });
  return { question: row.question, plans: played.map(describePlan) };
}

function describePlan({ plan, sample, verdict }: Played): string {
  const steps = plan?.steps.map(
    ({ worker, subtask, sees }) => `${worker}: ${subtask}${sees.length > 0 ? ' (sees what was before)' : ''}`,
  );
  return `${steps?.join(' → ') ?? sample.text} → ${verdict}`;
}

type Change = (plan: Plan, crew: Crew) => Plan;

/** Name of the scores of unchanged plans. */
export const AS_LEARNED = 'as learned';

/** Ablations: how accuracy changes shows whether a plan depends on that part. */
const CHANGES: Readonly<Record<string, Change>> = {
  [AS_LEARNED]: (plan) => plan,
  generic: ({ steps }) => ({ steps: steps.map((step) => ({ ...step, subtask: 'Do what is to be done.' })) }),
  silent: ({ steps }) => ({ steps: steps.map((step) => ({ ...step, sees: [] })) }),
  permuted: ({ steps }, { ids }) => ({
    steps: steps.map((step) => ({
      ...step,
      worker: ids[(ids.indexOf(step.worker) + 1) % ids.length] ?? step.worker,
    })),
  }),
};

/** Greedy plans, one per question. */
interface Greedy {
  readonly exam: Exam;
  /** By question; null if the reply was no plan. */
  readonly plans: ReadonlyMap<string, Plan | null>;
}

async function writeGreedily(desk: Desk, checkpoint: Checkpoint, exam: Exam): Promise<Greedy> {
  const plans = new Map<string, Plan | null>();
  for (const [, rows] of compositionSets('heldOut', exam.count, exam.name)) {
    const played = await writePlans(desk, checkpoint, rows, { plans: 1, temperature: 0, seed: 0 });
    for (const { row, plan } of played) plans.set(row.question, plan);
  }
  return { exam, plans };
}

/** Scores plans, changed by `change`. */
function score({ crew }: Desk, { exam, plans }: Greedy, change: Change = (plan) => plan): Promise<Scores> {
  return scoreSets(exam, (rows) => {
    const answers = rows.map(async ({ question }) => {
      const plan = plans.get(question) ?? null;
      return plan && crew.carryOut(change(plan, crew), question);
    });
    return Promise.all(answers);
  });
}

async function lookAt(desk: Desk, checkpoint: Checkpoint): Promise<Record<string, number>> {
  const right = await score(desk, await writeGreedily(desk, checkpoint, desk.recipe.lookedAt));
  return Object.fromEntries(Object.entries(right).map(([set, values]) => [set, mean(values)]));
}

function describePoint(point: Kept['curve'][number] | undefined): string {
  const shares = Object.entries(point?.accuracy ?? {}).map(([set, share]) => `${set} ${share.toFixed(2)}`);
  return `cycle ${point?.cycle}: right of ${shares.join(', ')}`;
}

function describe(played: readonly Played[]): string {
  const readable = mean(played.map(({ plan }) => (plan === null ? 0 : 1)));
  const right = mean(played.map(({ verdict }) => (verdict === 'correct' ? 1 : 0)));
  const steps = mean(played.flatMap(({ plan }) => plan?.steps.length ?? []));
  return `sampled: ${readable.toFixed(3)} plans, ${right.toFixed(3)} right, ${steps.toFixed(2)} steps`;
}

function timeLeft(desk: Desk, began: { readonly at: number; readonly done: number }, done: number): string {
  const perCycle = (performance.now() - began.at) / (done - began.done);
  return `${Math.ceil(((cyclesOf(desk) - done) * perCycle) / 60_000)} min left`;
}
