import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drawFromFile } from '../../../src/cli/evaluate/draw-questions';

test('a file in which two questions have one id is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'conductor-questions-'));
  try {
    const file = join(folder, 'questions.jsonl');
    const lines = ['a', 'b', 'a'].map((id) => JSON.stringify({ id, question: 'How many?', answer: '7' }));
    await writeFile(file, lines.join('\n'));
    const drawn = drawFromFile(file, { seed: 1 });
    await expect(drawn).rejects.toThrow('more than one question a: give each its own id');
  } finally {
    await rm(folder, { recursive: true });
  }
});
