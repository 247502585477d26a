import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Puts the message and the stack trace of every failure into a payload, which a codec can encrypt. The sandbox,
 * clients and workers load it by path; Temporal prescribes the name of the export.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
