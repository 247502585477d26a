import { DefaultFailureConverter } from '@temporalio/common';
import { PLAIN_FAILURES } from '../protocol/names';

/**
 * Puts the message and the stack trace of every failure into a payload, which a codec can encrypt. The sandbox,
 * clients and workers load it by path; Temporal prescribes the name of the export. A worker without keys tells its
 * sandbox by a global variable that failures stay readable, so that one bundle serves both.
 */
export const failureConverter = new DefaultFailureConverter({
  encodeCommonAttributes: !(PLAIN_FAILURES in globalThis),
});
