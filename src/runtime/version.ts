import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the version of this package. */
export function readVersion(): string {
  const text = readFileSync(join(__dirname, '../..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
