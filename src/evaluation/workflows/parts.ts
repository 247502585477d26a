export { type Attempts, NOT_PLAYED, playPlan, playPromptedPlan, type Ungraded } from './attempts';
export { gradeAttempts } from './grading';
export { moveOn, shouldMoveOn } from './move-on';
