import { join } from 'node:path';
import { z } from 'zod';
import * as contract from '../../../src/training/trainer-contract';
import * as names from '../../../src/training/names';

/** Where the Python side reads the contract. */
export const CONTRACT_PATH = join(__dirname, '../../../trainer/src/conductor_trainer/contract.json');

/** Everything that crosses between the two languages, by the name that golden payloads call it. */
export const MESSAGES = {
  initRequest: contract.initRequestSchema,
  warmStartRequest: contract.warmStartRequestSchema,
  updateRequest: contract.updateRequestSchema,
  publishRequest: contract.publishRequestSchema,
  retireRequest: contract.retireRequestSchema,
  collectRequest: contract.collectRequestSchema,
  exportRequest: contract.exportRequestSchema,
  checkpointResult: contract.checkpointResultSchema,
  warmStartResult: contract.warmStartResultSchema,
  updateResult: contract.updateResultSchema,
  publishResult: contract.publishResultSchema,
  retireResult: contract.retireResultSchema,
  collectResult: contract.collectResultSchema,
  exportResult: contract.exportResultSchema,
  batchHeader: contract.batchHeaderSchema,
  batchRow: contract.batchRowSchema,
} as const;

const ACTIVITIES: Readonly<
  Record<string, { request: keyof typeof MESSAGES; result: keyof typeof MESSAGES }>
> = {
  [names.INIT]: { request: 'initRequest', result: 'checkpointResult' },
  [names.WARM_START]: { request: 'warmStartRequest', result: 'warmStartResult' },
  [names.UPDATE]: { request: 'updateRequest', result: 'updateResult' },
  [names.PUBLISH]: { request: 'publishRequest', result: 'publishResult' },
  [names.RETIRE]: { request: 'retireRequest', result: 'retireResult' },
  [names.COLLECT]: { request: 'collectRequest', result: 'collectResult' },
  [names.EXPORT]: { request: 'exportRequest', result: 'exportResult' },
};

/** The contract as Python reads it: each activity's messages, and each message as JSON Schema (draft 2020-12). */
export function contractJson(): string {
  const messages = Object.fromEntries(
    Object.entries(MESSAGES).map(([name, schema]) => [name, z.toJSONSchema(schema)]),
  );
  return `${JSON.stringify({ activities: ACTIVITIES, messages }, null, 1)}\n`;
}
