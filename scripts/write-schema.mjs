// Writes the JSON Schema of `conductor.yaml` at build time, for editors, from the zod schemas that check the file.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { priceSchema } from '../lib/config/field-schemas.js';
import { trainingConfigSchema } from '../lib/training/config/schema.js';

const FREE = { const: 0, description: 'It costs nothing.' };

const schema = z.toJSONSchema(trainingConfigSchema, {
  io: 'input',
  override: ({ zodSchema, jsonSchema }) => {
    if (zodSchema === priceSchema) allow(FREE, jsonSchema);
  },
});
makeOptional(schema.properties.training);
schema.title = 'conductor.yaml of temporal-conductor';
const file = fileURLToPath(new URL('../lib/conductor.schema.json', import.meta.url));
await writeFile(file, `${JSON.stringify(schema)}\n`);

/** Allows one more value beside those of a schema. */
function allow(value, node) {
  const other = { ...node };
  for (const key of Object.keys(node)) delete node[key];
  node.anyOf = [value, other];
}

/** Makes every setting optional, `kind` too: a profile may give any, so editors must not miss one. */
function makeOptional(node) {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node.required)) delete node.required;
  if (node.oneOf) {
    node.anyOf = node.oneOf;
    delete node.oneOf;
  }
  for (const inner of Object.values(node)) makeOptional(inner);
}
