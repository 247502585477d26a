// Loaded first: a Node that is too old ends with a sentence, before it fails on what it cannot load.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { engines } = JSON.parse(readFileSync(join(__dirname, '../..', 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string };
};
const numbersOf = (version: string): number[] => (version.match(/\d+/g) ?? []).map(Number);
const [major = 0, minor = 0] = numbersOf(process.versions.node);
const [leastMajor = 0, leastMinor = 0] = numbersOf(engines.node);
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  // eslint-disable-next-line no-console -- an old Node cannot load our own printing
  console.error(
    `temporal-conductor: this is Node ${process.versions.node}, and ${engines.node} is needed: install it ` +
      'from https://nodejs.org, or with your version manager',
  );
  process.exit(2);
}
