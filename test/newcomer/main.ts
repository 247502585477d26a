/**
 * `npm run newcomer [-- DOCUMENT…]`: follows the documents as a user with only the packed files would. Each document
 * starts in an empty folder; models are simulated, Temporal is real. `blocks.ts` says which blocks are followed.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startSimulatedProviders } from '../../src/testing';
import { type Deed, readDeeds } from './blocks';
import { followDocument } from './follow';
import { answerOf } from './models';
import { MAPS, PAGES, readPage, ROOT } from './pages';
import { missingPaths } from './paths';

/** Most commands and lines of code that lead to the first answer of the user's own worker. */
const QUICK_START = { document: 'docs/plugin.md', commands: 5, linesOfCode: 60 };

async function main(): Promise<void> {
  const chosen = process.argv.slice(2);
  const faults = MAPS.flatMap((page) => missingPaths(page).map((path) => `${page}: ${path} does not exist`));
  const machine = await mkdtemp(join(tmpdir(), 'newcomer-machine-'));
  const bin = await installPackage(machine);
  for (const document of chosen.length > 0 ? chosen : PAGES) {
    const deeds = readDeeds(readPage(document));
    if (deeds.length === 0) continue;
    console.log(`\n${document}`);
    const folder = await mkdtemp(join(tmpdir(), 'newcomer-'));
    const providers = await startSimulatedProviders({ fallback: { answer: answerOf } });
    try {
      const setting = { root: ROOT, folder, bin, modelsAt: providers.url, say: console.log };
      const found = await followDocument(deeds, setting);
      if (document === QUICK_START.document) found.push(...tooMuch(deeds));
      faults.push(...found.map((fault) => `${document}: ${fault}`));
    } finally {
      await providers.close();
      await rm(folder, { recursive: true, force: true });
    }
  }
  await rm(machine, { recursive: true, force: true });
  console.log(faults.length === 0 ? '\nAll of it is as it is written.' : `\n${faults.join('\n\n')}`);
  if (faults.length > 0) process.exitCode = 1;
}

/** Installs the package globally below a prefix, for the pages that run `temporal-conductor`. */
async function installPackage(prefix: string): Promise<string> {
  const dist = join(ROOT, 'dist');
  const packed = readdirSync(dist).filter((name) => /^temporal-conductor-.*\.tgz$/.test(name));
  const args = ['install', '--global', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund'];
  await promisify(execFile)('npm', [...args, ...packed.map((name) => join(dist, name))]);
  return join(prefix, 'bin');
}

function tooMuch(deeds: readonly Deed[]): string[] {
  const commands = deeds.filter((deed) => deed.kind === 'command').length;
  const lines = deeds
    .flatMap((deed) => (deed.kind === 'file' ? deed.content.split('\n') : []))
    .filter((line) => line.trim() !== '').length;
  if (commands <= QUICK_START.commands && lines <= QUICK_START.linesOfCode) return [];
  return [
    `The first solve of one's own takes ${commands} commands and ${lines} lines of code: it may take at most ` +
      `${QUICK_START.commands} and ${QUICK_START.linesOfCode}.`,
  ];
}

if (!existsSync(join(ROOT, 'dist')))
  throw new Error('dist/ is not there: run "npm run newcomer", which packs first.');
main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
