export {
  readEvaluation,
  readEvaluationManifest,
  readEvaluationManifests,
  readResults,
} from '../activities/kept';
export { compareEvaluations, tableOfChanges } from './compare-evaluations';
export { reportOf, showSummary, showTable } from './describe-summary';
export { type Details, detailsOf, readDetails } from './details';
export { writeInspectLogs } from './inspect-log';
export { chartsOf } from './score-charts';
export { asksForFree, madeWith } from './setting';
