import type { Grade, Verdict } from '../grading/grade';
import type { Question } from '../grading/question';
import type { Conversation, LimitsInput, SolveInput } from '../protocol/input';
import type { Text } from '../protocol/text';
import type { EvaluationManifest, MethodRecord } from './results';

// Names of an evaluation's workflows and activities. They are written into histories: never change one.

export const EVALUATE_WORKFLOW = 'conductorEvaluate';
export const QUESTION_WORKFLOW = 'conductorEvaluateQuestion';

export const EVALUATION_PROGRESS_QUERY = 'progress';

export const OPEN_QUESTION = 'conductor.evaluate.openQuestion';
export const GRADE_ANSWERS = 'conductor.evaluate.gradeAnswers';
export const COMPARE_ANSWERS = 'conductor.evaluate.compareAnswers';
export const KEEP_RESULT = 'conductor.evaluate.keepResult';

/** Temporal's lowest priority, so that evaluations yield to people who wait for an answer. */
export const EVALUATION_PRIORITY = 5;

export interface QuestionRef {
  readonly set: string;
  readonly index: number;
}

/** Answers, or outputs of steps; null for a missing one. */
export type Answers = readonly (Text | null)[];

/** Grade of a missing answer. */
export const NO_ANSWER: Grade = {
  verdict: 'wrong',
  extracted: null,
  reason: 'there is no answer',
  graderVersion: 'none',
};

/** Grade by a rule, with the verifier's prompt if the verifier decides instead. */
export interface RuleGrade extends Grade {
  readonly verification?: Judging;
  /** Index of the first equal answer, if several were judged; null if this answer states no result. */
  readonly sameAs?: number | null;
}

/** Prompt for a model outside the pool that judges answers, and the words with which its reply may end. */
export interface Judging {
  readonly prompt: Text;
  /** For one answer: right, wrong. For two answers: first, second, neither. */
  readonly words: readonly string[];
}

/** Result and cost of solving a question, without its grade; of a logged solve or of one just made. */
export type LoggedSolve = Omit<
  MethodRecord,
  'evaluation' | 'method' | 'question' | 'index' | 'topic' | 'judging' | 'preference' | keyof Grade
>;

/** Question of an evaluation's set, from a file or from the log; few logged ones have a known right answer. */
export type EvaluatedQuestion = (
  Question | (Pick<Question, 'id' | 'question' | 'conversation' | 'topic'> & { readonly grader: 'none' })
) & {
  readonly solved?: LoggedSolve;
  /** Id of the worker that the learned router chose; absent without a learned router. */
  readonly routed?: string;
  /** Number of earlier tries of the same question; absent for the first. */
  readonly repeat?: number;
};

/** User-defined activity that judges the answers to a question. */
export interface CustomGrader {
  readonly activity: string;
  readonly taskQueue: string;
  /** Timeout for one answer, over all attempts. */
  readonly timeoutMs: number;
  readonly right: string;
}

export interface CustomGradeRequest {
  readonly id: string;
  readonly question: Text;
  readonly answer: Text;
  readonly right: string;
}

export type GradedAnswers = readonly RuleGrade[] | CustomGrader;

type Settings =
  'id' | 'methods' | 'workers' | 'run' | 'conductors' | 'baselines' | 'verifier' | 'compares' | 'seed';

interface EvaluationSettings extends Readonly<Pick<EvaluationManifest, Settings>> {
  readonly limits?: LimitsInput;
  readonly runNanoUsd: number | null;
  /** Budget of this run of the workflow, over all its continuations and methods; null: no limit. */
  readonly nanoUsd: number | null;
}

export interface EvaluateInput
  extends EvaluationSettings, Readonly<Pick<EvaluationManifest, 'set' | 'questions'>> {
  readonly window: number;
  /** Set by the workflow itself when it continues as new. */
  readonly carried?: EvaluationProgress;
}

/** Progress of an evaluation, as its query reports it. */
export interface EvaluationProgress {
  readonly begun: number;
  readonly done: number;
  readonly spentNanoUsd: number;
  readonly startedAt: number;
  /** Counts by method, in order: right answers, and answers that could be judged. */
  readonly scores: readonly { readonly correct: number; readonly graded: number }[];
  readonly stoppedBy: 'cost' | null;
}

export interface QuestionInput extends EvaluationSettings {
  readonly question: QuestionRef;
}

export interface QuestionOutcome {
  /** Verdicts by method, in order; null if the budget ran out before it. */
  readonly verdicts: readonly (Verdict | null)[];
  /** Spent by this run of the workflow; an unknown cost counts at its maximum. */
  readonly spentNanoUsd: number;
}

export interface AskedQuestion {
  readonly id: string;
  readonly topic?: string | undefined;
  readonly text: Text;
  readonly conversation?: Conversation;
}

export interface OpenedQuestion
  extends AskedQuestion, Pick<EvaluatedQuestion, 'solved' | 'routed' | 'repeat'> {
  /** Input for a solve of the question. */
  readonly asked: Pick<SolveInput, 'question' | 'messages' | 'conversation'>;
  readonly known: readonly MethodRecord[];
  /** Set if no right answer is known. */
  readonly isOpen?: true;
}

// Store keys of evaluations.

export const questionSetKey = (sha256: string): string => `questions/${sha256}.jsonl`;

/** Returns the SHA-256 in the key of a question set; null for any other key. */
export function readQuestionSetKey(key: string): string | null {
  return /^questions\/([0-9a-f]{64})\.jsonl$/.exec(key)?.[1] ?? null;
}

export const EVALUATIONS = 'evaluations/';

const folder = (evaluation: string): string => `${EVALUATIONS}${evaluation}/`;

export const evaluationManifestKey = (evaluation: string): string => `${folder(evaluation)}evaluation.json`;

export const isEvaluationManifestKey = (key: string): boolean =>
  /^evaluations\/[^/]+\/evaluation\.json$/.test(key);

/** Returns the folder that holds only result records, for the whole evaluation or for one question. */
export const resultsFolder = (evaluation: string, index?: number): string =>
  `${folder(evaluation)}results/${index === undefined ? '' : `${String(index).padStart(6, '0')}/`}`;

export const resultKey = (evaluation: string, index: number, method: string): string =>
  `${resultsFolder(evaluation, index)}${slugOf(method)}.json`;

/** Returns a method for keys and workflow ids: `vote-gpt` for `vote:gpt`, `conductor-a_b.1` for `conductor:a/b:1`. */
export function slugOf(method: string): string {
  return method
    .replace('/', '_')
    .replace(/^(conductor:[^:]*):/, '$1.')
    .replace(/[^A-Za-z0-9._]+/g, '-');
}
