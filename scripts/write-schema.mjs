// Writes the JSON Schema of `conductor.yaml` at build time, for editors: the same zod schemas check the file itself.
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

/** A profile may give any setting of the section, so an editor must not miss one, nor the `kind` that tells two apart. */
function makeOptional(node) {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node.required)) delete node.required;
  if (node.oneOf) {
    node.anyOf = node.oneOf;
    delete node.oneOf;
  }
  for (const inner of Object.values(node)) makeOptional(inner);
}
