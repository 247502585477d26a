import { randomFrom } from '../chance';
import type { QuestionInput, QuestionOutcome } from '../contract';
import type { Method, Team } from '../methods/method';
import { readMethod, REFERENCE } from '../methods/read-method';
import { alone } from '../methods/single';
import { KEEP_RESULT, OPEN_QUESTION } from '../names';
import type { MethodRecord } from '../records';
import { storeActivities } from './activities';
import { checkQuestion } from './input';
import { playSamples } from './play-samples';
import { recordOf, solvedBy } from './record';
import { type MethodResult, nothingOf, QuestionContext, type SolveRun } from './question-context';

/**
 * Workflow `conductorEvaluateQuestion`: tries every method on one question, one after the other, and keeps what came of
 * each. The Conductor is the first: some methods carry out its plan, or may cost as much as it did.
 *
 * @throws ApplicationFailure of type `Solve.BadInput`, or what opening or keeping failed with
 */
export async function conductorEvaluateQuestion(input: QuestionInput): Promise<QuestionOutcome> {
  checkQuestion(input);
  const { id, question: ref, methods } = input;
  const question = await storeActivities('open the question')[OPEN_QUESTION]({ evaluation: id, ref });
  const found = new Map(question.known.map((record) => [record.method, record]));
  const context = new QuestionContext(input, question);
  const first = (name: string): number => (name === REFERENCE ? 0 : 1);
  for (const name of methods.toSorted((one, other) => first(one) - first(other))) {
    if (found.has(name)) continue;
    const record = await tryMethod(context, name, found.get(REFERENCE) ?? null);
    if (record === null) break;
    await storeActivities(`keep ${name}`)[KEEP_RESULT](record);
    found.set(name, record);
  }
  const verdicts = methods.map((name) => found.get(name)?.verdict ?? null);
  return { verdicts, spentNanoUsd: context.spentNanoUsd };
}

/** Null if the budget ran out: the record then says nothing about the method. */
async function tryMethod(
  context: QuestionContext,
  name: string,
  reference: MethodRecord | null,
): Promise<MethodRecord | null> {
  const { input, question } = context;
  const { solved } = question;
  if (name === REFERENCE && solved) {
    return recordOf(context, { name, solved, result: { runs: [], answer: solved.answer }, reference: null });
  }
  const { method } = readMethod(name, input.workers);
  const random = randomFrom(input.seed, question.id, name);
  const team = { workers: input.workers, random };
  const result = await playMethod(context, { name, method, team, reference });
  return (
    result && recordOf(context, { name, solved: solvedBy(method, result, reference), result, reference })
  );
}

interface MethodInput {
  readonly name: string;
  readonly method: Method;
  readonly team: Team;
  /** Conductor's result on the question; null for its own turn. */
  readonly reference: MethodRecord | null;
}

/** Tries a method on the question; null where the money did not last for it. */
function playMethod(
  context: QuestionContext,
  { name, method, team, reference }: MethodInput,
): Promise<MethodResult | null> {
  switch (method.kind) {
    case 'conductor': {
      const { depth, steps, change } = method;
      const limits = { depth, ...(steps !== undefined && { steps }) };
      return playOnce(context.solve(name, { limits, conductor: change }));
    }
    case 'plan':
      return playOnce(context.runPlan(name, method.write(team)));
    case 'rewrite': {
      const plan = reference?.plan ?? null;
      if (plan === null)
        return Promise.resolve(nothingOf('the Conductor wrote no plan that could be changed'));
      return playOnce(context.runPlan(name, method.rewrite(plan, team)));
    }
    case 'routed':
      return playRouted(context, name);
    case 'samples':
      return playSamples(context, name, method, reference);
  }
}

function playRouted(context: QuestionContext, name: string): Promise<MethodResult | null> {
  const { routed } = context.question;
  return routed === undefined
    ? Promise.resolve(nothingOf('the evaluation learned from no earlier one who is to answer'))
    : playOnce(context.runPlan(name, alone(routed)));
}

async function playOnce(solving: Promise<SolveRun | null>): Promise<MethodResult | null> {
  const run = await solving;
  return run && { runs: [run], answer: run.trace?.answer ?? null };
}
