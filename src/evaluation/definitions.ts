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
  manifestKey,
  OPEN_QUESTION,
  PROGRESS_QUERY,
  type QuestionRef,
  questionSetKey,
  readQuestionSetKey,
} from './contract';
export { type Failure, failureOf, FAILURES } from './failure-kinds';
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
export { attemptSchema, type Learned, type LogFacts, type Manifest, verdictSchema } from './results';
export { factsOf } from './spent';
export { bestWorker, summarize, type Summary } from './summarize';
