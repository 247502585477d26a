import type { ConductorActivities } from '../protocol/activities';
import { CALL_WORKER, KEEP_TEXT, READ_TEXT, WRITE_PLAN } from '../protocol/names';
import { keepText, readText } from '../store/texts';
import { callWorker } from './call-worker';
import type { Dependencies } from './dependencies';
import { asFailure } from './as-failure';
import { writePlan } from './write-plan';

/** The side effects of a solve, ready to be registered on a worker. */
export function createActivities(dependencies: Dependencies): ConductorActivities {
  const { store } = dependencies;
  return {
    [WRITE_PLAN]: (request) => asFailure(() => writePlan(dependencies, request)),
    [CALL_WORKER]: (request) => asFailure(() => callWorker(dependencies, request)),
    [KEEP_TEXT]: (text) => asFailure(() => keepText(store, text)),
    [READ_TEXT]: (text) => asFailure(() => readText(store, text)),
  };
}
