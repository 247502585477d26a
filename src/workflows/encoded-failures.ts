import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Puts the message and the stack trace of every failure into a payload, where a codec encrypts them. Loaded by path, in
 * the sandbox and by clients and workers alike; the name of the export is Temporal's.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
