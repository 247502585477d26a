/** The graders, for programs of one's own: `import { grade } from 'temporal-conductor/grading'`. Pure functions. */
export { grade, type Grade, type RightAnswer } from './grade';
export { type Question, questionSchema } from './question';
