import type { Grade, Verdict } from '../grading/grade';
import type { Question } from '../grading/question';
import type { Conversation, LimitsInput, SolveInput } from '../protocol/input';
import type { Text } from '../protocol/text';
import type { Manifest, MethodRecord } from './results';

// An evaluation's workflows and activities. Their names are written into histories: never change one.

export const EVALUATE_WORKFLOW = 'conductorEvaluate';
export const QUESTION_WORKFLOW = 'conductorEvaluateQuestion';

export const PROGRESS_QUERY = 'progress';

export const OPEN_QUESTION = 'conductor.evaluate.openQuestion';
export const GRADE_ANSWERS = 'conductor.evaluate.gradeAnswers';
export const COMPARE_ANSWERS = 'conductor.evaluate.compareAnswers';
export const KEEP_RESULT = 'conductor.evaluate.keepResult';

/** Evaluations give way to people who wait: Temporal's last priority. */
export const EVALUATION_PRIORITY = 5;

export interface QuestionRef {
  readonly set: string;
  readonly index: number;
}

/** Answers, or outputs of steps; null for one that is none. */
export type Answers = readonly (Text | null)[];

/** The grade where there is no answer. */
export const NO_ANSWER: Grade = {
  verdict: 'wrong',
  extracted: null,
  reason: 'there is no answer',
  graderVersion: 'none',
};

/** A rule's grade; with what the verifier is asked where that is to have the last word. */
export interface RuleGrade extends Grade {
  readonly verification?: Judging;
  /** The place of the first answer that the grader holds equal, where it judged several; null where this settles on nothing. */
  readonly sameAs?: number | null;
}

/** What a model from outside the pool is asked about answers, and the words that its reply may end with. */
export interface Judging {
  readonly prompt: Text;
  /** For right and wrong of one answer; of two for the first, the second, and neither. */
  readonly words: readonly string[];
}

/** A solve of the log: what the Conductor made of its question, and what that cost. */
export type LoggedSolve = Omit<
  MethodRecord,
  'evaluation' | 'method' | 'question' | 'index' | 'topic' | 'judging' | 'preference' | keyof Grade
>;

/** A question of an evaluation's set: of a file or of the log, where hardly any has a right answer. */
export type EvaluatedQuestion = (
  Question | (Pick<Question, 'id' | 'question' | 'conversation' | 'topic'> & { readonly grader: 'none' })
) & {
  readonly solved?: LoggedSolve;
  /** Id of the worker that the learned router chose; absent where none did. */
  readonly routed?: string;
  /** How many tries of the same question come before it; absent for the first. */
  readonly repeat?: number;
};

/** The activity of the user's that judges the answers to a question. */
export interface CustomGrader {
  readonly activity: string;
  readonly taskQueue: string;
  /** For one answer, all attempts together. */
  readonly timeoutMs: number;
  readonly right: string;
}

export interface CustomGradeRequest {
  readonly id: string;
  readonly question: Text;
  readonly answer: Text;
  readonly right: string;
}

export type Graded = readonly RuleGrade[] | CustomGrader;

type Settings =
  'id' | 'methods' | 'workers' | 'run' | 'conductors' | 'baselines' | 'verifier' | 'compares' | 'seed';

interface EvaluationSettings extends Readonly<Pick<Manifest, Settings>> {
  readonly limits?: LimitsInput;
  readonly runNanoUsd: number | null;
  /** Budget of this run of the workflow, over all its continuations and methods; null: no limit. */
  readonly nanoUsd: number | null;
}

export interface EvaluateInput extends EvaluationSettings, Readonly<Pick<Manifest, 'set' | 'questions'>> {
  readonly window: number;
  /** Set by the workflow itself where it goes on in a new run. */
  readonly carried?: EvaluationProgress;
}

/** How far an evaluation is, as its query tells it. */
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
  /** By this run of the workflow; what is unknown counted at its maximum. */
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
  /** What a solve of it is asked. */
  readonly asked: Pick<SolveInput, 'question' | 'messages'>;
  readonly known: readonly MethodRecord[];
  /** Whether there is a right answer to judge by; absent: yes. */
  readonly isOpen?: true;
}

// Where evaluations keep what in the store.

export const questionSetKey = (sha256: string): string => `questions/${sha256}.jsonl`;

/** The SHA-256 of the questions that lie under a key; null where that is no set's. */
export function readQuestionSetKey(key: string): string | null {
  return /^questions\/([0-9a-f]{64})\.jsonl$/.exec(key)?.[1] ?? null;
}

export const EVALUATIONS = 'evaluations/';

const folder = (evaluation: string): string => `${EVALUATIONS}${evaluation}/`;

export const manifestKey = (evaluation: string): string => `${folder(evaluation)}evaluation.json`;

export const isManifestKey = (key: string): boolean => /^evaluations\/[^/]+\/evaluation\.json$/.test(key);

/** A record for each method and question, or for each method on one question, and nothing else. */
export const resultsFolder = (evaluation: string, index?: number): string =>
  `${folder(evaluation)}results/${index === undefined ? '' : `${String(index).padStart(6, '0')}/`}`;

export const resultKey = (evaluation: string, index: number, method: string): string =>
  `${resultsFolder(evaluation, index)}${slugOf(method)}.json`;

/** A method as a part of keys and workflow ids: `vote:gpt` is `vote-gpt`, and `conductor:a/b:1` is `conductor-a_b.1`. */
export function slugOf(method: string): string {
  return method
    .replace('/', '_')
    .replace(/^(conductor:[^:]*):/, '$1.')
    .replace(/[^A-Za-z0-9._]+/g, '-');
}
