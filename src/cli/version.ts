import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const packageSchema = z.object({ version: z.string() });

/** The version of the installed package: it is in `package.json`, two folders above, and nowhere else. */
export function readVersion(): string {
  const text = readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8');
  return packageSchema.parse(JSON.parse(text)).version;
}
