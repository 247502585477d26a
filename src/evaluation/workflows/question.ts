import { checkGiven, storeActivities } from '../../workflows/parts';
import type { EvaluationActivities } from '../activities';
import { randomFrom } from '../../statistics/chance';
import {
  KEEP_RESULT,
  type LoggedSolve,
  OPEN_QUESTION,
  type QuestionInput,
  type QuestionOutcome,
} from '../contract';
import type { Method, Team } from '../methods/method';
import { alone } from '../methods/plans';
import { readMethod, REFERENCE } from '../methods/read-method';
import type { MethodRecord } from '../results';
import { addSpent, loggedFactsOf, NOTHING_SPENT } from '../spent';
import { checkQuestion } from './check-input';
import { compare, judgeResult } from './judge';
import { playAgreement, playSamples } from './play-samples';
import { type MethodResult, nothingOf, QuestionContext, type SolveRun } from './question-context';

/**
 * Workflow `conductorEvaluateQuestion`: tries every method on one question and stores the results. The Conductor
 * comes first, since some methods carry out its plan or may cost as much as it did.
 */
export async function conductorEvaluateQuestion(input: QuestionInput): Promise<QuestionOutcome> {
  checkQuestion(input);
  const { id, question: ref, methods, run, baselines = [], verifier } = input;
  await checkGiven(run, ...baselines, ...(verifier === undefined ? [] : [verifier]));
  const question = await store('open the question')[OPEN_QUESTION]({ evaluation: id, ref });
  const found = new Map(question.known.map((record) => [record.method, record]));
  const context = new QuestionContext(input, question);
  const first = (name: string): number => (name === REFERENCE ? 0 : 1);
  for (const name of methods.toSorted((one, other) => first(one) - first(other))) {
    if (found.has(name)) continue;
    const record = await tryMethod(context, name, found.get(REFERENCE) ?? null);
    if (record === null) break;
    await store(`keep ${name}`)[KEEP_RESULT](record);
    found.set(name, record);
  }
  const verdicts = methods.map((name) => found.get(name)?.verdict ?? null);
  return { verdicts, spentNanoUsd: context.spentNanoUsd };
}

const store = storeActivities<EvaluationActivities>;

/** Tries a method and judges its answer; null if the budget ran out, since that would say nothing about the method. */
async function tryMethod(
  context: QuestionContext,
  name: string,
  reference: MethodRecord | null,
): Promise<MethodRecord | null> {
  const { input, question } = context;
  const { method } = readMethod(name, input);
  const logged = name === REFERENCE ? question.solved : undefined;
  const result = logged
    ? { runs: [], answer: logged.answer }
    : await playMethod(context, name, method, reference);
  if (result === null) return null;
  const judged = await judgeResult(context, name, result);
  const compared = judged && (await compare(context, name, result.answer, reference));
  if (judged === null || compared === null) return null;
  const { judging: graded, ...verdict } = judged;
  const { judging: asked, ...preferred } = compared;
  const judging = addSpent(graded, asked);
  return {
    evaluation: input.id,
    method: name,
    question: question.id,
    index: input.question.index,
    topic: question.topic ?? null,
    ...(logged ?? solvedBy(method, result, reference)),
    ...verdict,
    ...preferred,
    ...(judging.calls > 0 && { judging }),
  };
}

/** Plays one method; null if the budget ran out before its end. */
async function playMethod(
  context: QuestionContext,
  name: string,
  method: Method,
  reference: MethodRecord | null,
): Promise<MethodResult | null> {
  const { input, question } = context;
  const team = { workers: input.workers, random: randomFrom(context.seed, question.id, name) };
  switch (method.kind) {
    case 'conductor':
      return playConductor(context, name, method);
    case 'plan':
      return playGiven(context, name, method, team);
    case 'rewrite':
      if (!reference?.plan) return nothingOf('the Conductor wrote no plan that could be changed');
      return playOnce(context.runPlan(name, method.rewrite(reference.plan, team)));
    case 'routed': {
      const { routed } = question;
      return routed === undefined
        ? nothingOf('no worker was chosen, since the evaluation has no --learn-from')
        : playOnce(context.runPlan(name, alone(routed, context.formOf(routed)), { form: 'bare' }));
    }
    case 'agreement':
      return playAgreement(context, name, team);
    case 'samples':
      return playSamples(context, name, method, reference);
  }
}

function playConductor(
  context: QuestionContext,
  name: string,
  { depth, steps, recursion, change, named }: Extract<Method, { readonly kind: 'conductor' }>,
): Promise<MethodResult | null> {
  const limits = steps === undefined ? { depth } : { depth, steps };
  return playOnce(context.solve(name, { limits, recursion, conductor: change, named }));
}

function playGiven(
  context: QuestionContext,
  name: string,
  { solo, write }: Extract<Method, { readonly kind: 'plan' }>,
  team: Team,
): Promise<MethodResult | null> {
  const form = solo === undefined ? 'team' : context.formOf(solo.worker, solo.form);
  return playOnce(context.runPlan(name, write(team, form), { form }));
}

async function playOnce(solving: Promise<SolveRun | null>): Promise<MethodResult | null> {
  const run = await solving;
  return run && { runs: [run], answer: run.trace?.answer ?? null };
}

function solvedBy(
  method: Method,
  { runs, answer }: MethodResult,
  reference: MethodRecord | null,
): LoggedSolve {
  const facts = loggedFactsOf(runs.flatMap(({ trace }) => trace ?? []));
  // A rewritten plan includes the cost of writing the original.
  const inherited = method.kind === 'rewrite' && reference !== null ? reference.planning : NOTHING_SPENT;
  return {
    ...facts,
    answer,
    runs: runs.map(({ id }) => id),
    spent: addSpent(inherited, facts.spent),
    planning: addSpent(inherited, facts.planning),
    latencyMs: runs.reduce((total, { latencyMs }) => total + latencyMs, 0),
  };
}
