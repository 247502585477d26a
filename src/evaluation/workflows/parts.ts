export { type Attempts, NOT_PLAYED, playPlan, playPrompted, type Ungraded } from './attempts';
export { gradeAttempts } from './grading';
