import { createRow, keepAnswer, writeRow } from '../../../src/store/ledger';
import { openStore } from '../../../src/store/open-store';
import { keepText } from '../../../src/store/texts';
import { promote, rollback, writeManifest } from '../../../src/training/policy/serving';
import { aManifest } from '../../support/a-manifest';
import { aRow, OPEN } from '../../support/ledger-of';

const ROW = aRow(OPEN);

/** Makes changes that others rely on, and prints a line after each: `acknowledge.ts PATH`. */
async function acknowledge(path: string): Promise<void> {
  const store = openStore(`sqlite:${path}`, '/');
  const row = { ...ROW, endedAt: '2026-11-21T10:00:01.000Z' };
  const checkpoint = { trainRun: 'nightly', name: '000001' };
  const works: Readonly<Record<string, () => Promise<unknown>>> = {
    'a row is opened': () => createRow(store, ROW),
    'a text is kept': () => keepText(store, 'a long answer '.repeat(20_000)),
    'an answer is kept': () => keepAnswer(store, { output: 'yes', dropped: [], row }),
    'a row is closed': () => writeRow(store, row),
    'a manifest is kept': () => writeManifest(store, aManifest(checkpoint)),
    'a checkpoint serves': () => promote(store, checkpoint, { reason: 'by hand', by: 'person' }),
    'it serves no longer': () => rollback(store, 'it was bad'),
  };
  for (const [what, work] of Object.entries(works)) {
    await work();
    process.stdout.write(`${what}\n`);
  }
}

void acknowledge(process.argv[2] ?? '');
