import { join } from 'node:path';
import { z } from 'zod';
import { TRAINER_ACTIVITIES, trainerMessages } from '../../../src/training/trainer-contract';

/** Where the Python side reads the contract. */
export const CONTRACT_PATH = join(__dirname, '../../../trainer/src/conductor_trainer/contract.json');

/** The contract as Python reads it: each activity's messages, and each message as JSON Schema (draft 2020-12). */
export function contractJson(): string {
  const messages = Object.fromEntries(
    Object.entries(trainerMessages).map(([name, schema]) => [
      name,
      z.toJSONSchema(schema, { override: dropDefault }),
    ]),
  );
  return `${JSON.stringify({ activities: TRAINER_ACTIVITIES, messages }, null, 1)}\n`;
}

/** A message is complete: defaults are of the configuration. */
function dropDefault({ jsonSchema }: { readonly jsonSchema: { default?: unknown } }): void {
  delete jsonSchema.default;
}
