import type { Text } from '../../protocol/text';
import { roundsOf } from '../../trace/run-tree';
import type { RuleGrade } from '../contract';
import type { MethodRecord } from '../records';
import type { SolveRun, Trial } from './trial';

export type GradeWithSteps = RuleGrade & Pick<MethodRecord, 'outputs'>;

/** The grade of an answer; where it is wrong, those of the outputs that led to it, too. */
export async function gradeWithSteps(
  trial: Trial,
  answer: Text,
  runs: readonly SolveRun[],
): Promise<GradeWithSteps | null> {
  const rounds = outputsOf(runs);
  const [grade, ...onTheWay] = await trial.grade([answer], rounds.flat());
  if (grade === undefined || onTheWay.length === 0) return grade ?? null;
  let at = 0;
  const outputs = rounds.map(({ length }) =>
    onTheWay.slice(at, (at += length)).map(({ verdict }) => verdict),
  );
  return { ...grade, outputs };
}

/** What the steps answered, round by round; of several solves, which are attempts, in one round. */
function outputsOf(runs: readonly SolveRun[]): readonly (readonly (Text | null)[])[] {
  const rounds = runs.flatMap(({ trace }) => (trace === null ? [] : roundsOf(trace)));
  const outputs = rounds.map(({ steps }) => steps.map(({ output }) => output));
  return runs.length > 1 ? [outputs.flat()] : outputs;
}
