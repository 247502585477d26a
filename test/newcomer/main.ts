/**
 * `npm run newcomer [-- DOCUMENT…]`: follows the documents as someone would who has nothing but the packed files. Each
 * document begins in an empty folder; models are simulated, Temporal is real. See `blocks.ts` for what is followed.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startSimulatedProviders } from '../../src/testing';
import { readDeeds } from './blocks';
import { followDocument } from './follow';
import { answerOf } from './models';

const ROOT = resolve(__dirname, '..', '..');
const DOCUMENTS = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  'trainer/README.md',
];

async function main(): Promise<void> {
  const chosen = process.argv.slice(2);
  const faults: string[] = [];
  for (const document of chosen.length > 0 ? chosen : DOCUMENTS) {
    const deeds = readDeeds(readFileSync(join(ROOT, document), 'utf8'));
    if (deeds.length === 0) continue;
    console.log(`\n${document}`);
    const folder = await mkdtemp(join(tmpdir(), 'newcomer-'));
    const providers = await startSimulatedProviders({ fallback: { answer: answerOf } });
    try {
      const setting = { root: ROOT, folder, modelsAt: providers.url, say: console.log };
      const found = await followDocument(deeds, setting);
      faults.push(...found.map((fault) => `${document}: ${fault}`));
    } finally {
      await providers.close();
      await rm(folder, { recursive: true, force: true });
    }
  }
  console.log(faults.length === 0 ? '\nAll of it is as it is written.' : `\n${faults.join('\n\n')}`);
  if (faults.length > 0) process.exitCode = 1;
}

if (!existsSync(join(ROOT, 'dist')))
  throw new Error('dist/ is not there: run "npm run newcomer", which packs first.');
main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
