import { DefaultFailureConverter } from '@temporalio/common';
import { ENCODES_FAILURES } from '../protocol/names';

/**
 * Failure converter of the bundle that our own workers load, with keys and without: it does as `encoded-failures` if
 * the worker has set this global variable, else as Temporal's. Temporal prescribes the name of the export.
 */
export const failureConverter = new DefaultFailureConverter({
  encodeCommonAttributes: ENCODES_FAILURES in globalThis,
});
