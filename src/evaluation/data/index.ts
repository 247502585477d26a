export { readQuestionFile, refuseMistakes, type Row } from './data-set';
export type { PlainGrader, Prompts } from './format';
export { inspectDataSet, type Inspection, type Some, type NameCounts } from './inspect';
export { type Copy, normalizeQuestion } from './question-index';
export { openDataFile } from './read-records';
export { splitDataSets, type SplitOptions } from './split';
