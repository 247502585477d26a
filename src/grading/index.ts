/** Graders for use in other programs: `import { grade } from 'temporal-conductor/grading'`. */
export { grade, type Grade, type RightAnswer, type Verdict } from './grade';
export { type Question, questionSchema } from './question';
