import { join } from 'node:path';
import { z } from 'zod';
import { TRAINER_ACTIVITIES, trainerMessages } from '../../../src/training/trainer-contract';

/** Path of the contract file that the Python side reads. */
export const CONTRACT_PATH = join(__dirname, '../../../trainer/src/conductor_trainer/contract.json');

/** Returns the contract as Python reads it: each activity's messages, as JSON Schema (draft 2020-12). */
export function contractJson(): string {
  const messages = Object.fromEntries(
    Object.entries(trainerMessages).map(([name, schema]) => [
      name,
      z.toJSONSchema(schema, { override: dropDefault }),
    ]),
  );
  return `${JSON.stringify({ activities: TRAINER_ACTIVITIES, messages }, null, 1)}\n`;
}

/** Drops a default: messages are complete, and only the configuration has defaults. */
function dropDefault({ jsonSchema }: { readonly jsonSchema: { default?: unknown } }): void {
  delete jsonSchema.default;
}
