/**
 * The sandbox-safe door: re-export it from your own workflows file.
 *
 * @example
 * export * from 'temporal-conductor/workflows';
 */
export { solve } from './solve';
export {
  addHintSignal,
  approvePlanUpdate,
  editPlanUpdate,
  rejectPlanUpdate,
  setLimitsUpdate,
  setMaxDepthSignal,
  stateQuery,
} from './messages';
export { trainNightly, type NightlyInput, type NightlyResult } from './training/train-nightly';
