import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { trainerMessages } from '../../../src/training/trainer-contract';
import { replaced } from '../../support/mangled';
import { CONTRACT_PATH, contractJson } from './contract-json';

/** A valid message and single values that break it; `trainer/tests/test_contract.py` reads the same files. */
interface Golden {
  readonly payload: unknown;
  readonly broken: readonly { readonly path: readonly (string | number)[]; readonly value: unknown }[];
}

const messages: [string, z.ZodType][] = Object.entries(trainerMessages);

test('the Python side has the current contract', () => {
  expect(readFileSync(CONTRACT_PATH, 'utf8')).toBe(contractJson());
});

describe.each(messages)('golden %s', (name, schema) => {
  const { payload, broken } = readGolden(name);

  it('is accepted as it is', () => {
    expect(schema.safeParse(payload).error).toBeUndefined();
  });

  it.each(broken)('is refused with $value at $path', ({ path, value }) => {
    expect(schema.safeParse(replaced(payload, path.map(String), value)).success).toBe(false);
  });
});

function readGolden(name: string): Golden {
  return JSON.parse(readFileSync(join(__dirname, '../golden', `${name}.json`), 'utf8')) as Golden;
}
