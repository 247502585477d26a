export { isMathematics } from './mathematics/normalize';
export { fromJson, orJson } from './or-json';
export { toDouble } from './rational';
export { answerTextOf, composed, finalAnswerOf, normalizeText } from './read-answer';
export { readRightChoice } from './read-choice';
export { readNumber } from './read-number';
