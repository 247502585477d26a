export { askedBeside, conductorFor, modelsBeside, workersFor } from './cast';
export { checkCondition, readCondition } from './condition';
export {
  type AskedQuestion,
  type CustomGradeRequest,
  EVALUATE_WORKFLOW,
  type EvaluatedQuestion,
  type EvaluateInput,
  EVALUATION_PRIORITY,
  type EvaluationProgress,
  evaluationManifestKey,
  OPEN_QUESTION,
  EVALUATION_PROGRESS_QUERY,
  type QuestionRef,
  questionSetKey,
  readQuestionSetKey,
} from './contract';
export { type Failure, failureOf, FAILURE_KINDS } from './failure-kinds';
export { type GradedExample, learnRouting } from './methods/learned-router';
export type { Method } from './methods/method';
export {
  type Cast,
  isOfAnyWorker,
  nameWorker,
  readMethod,
  readMethods,
  readPolicy,
  REFERENCE,
} from './methods/read-method';
export { MOST_ATTEMPTS } from './methods/samples';
export {
  attemptSchema,
  type Learned,
  type LogFacts,
  type EvaluationManifest,
  verdictSchema,
} from './results';
export { loggedFactsOf } from './spent';
export { bestWorker, summarize, type Summary } from './summarize';
