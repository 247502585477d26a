import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { smollm2Recipe, TINY } from '../../specialists/recipe';
import { claimFolder } from '../../specialists/school';

test('a folder accepts the workers and seeds of one recipe only, on any device', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'specialists-'));
  await claimFolder(folder, TINY);
  await claimFolder(folder, { ...TINY, device: 'cuda' });
  await expect(claimFolder(folder, { ...TINY, questions: 8 })).rejects.toThrow(/\(questions\)/);
  await expect(claimFolder(folder, smollm2Recipe('smollm2', 'cpu'))).rejects.toThrow(/base, tuning/);
});

test.each([
  ['cuda', 768],
  ['cpu', 192],
] as const)('a language model as Conductor learns on %s, from %d plans per cycle', (device, plans) => {
  const recipe = smollm2Recipe('smollm2', device);
  expect([recipe.device, recipe.questions * recipe.groupSize]).toEqual([device, plans]);
});
