import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Lets a person edit a text in `$VISUAL`, `$EDITOR` or vi.
 *
 * @throws Error where the editor cannot be started or ends with an error
 */
export async function editText(text: string, name: string, env = process.env): Promise<string> {
  const editor = [env.VISUAL, env.EDITOR].find((value) => value !== undefined && value !== '') ?? 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'temporal-conductor-'));
  try {
    const file = join(folder, name);
    await writeFile(file, text);
    // By the shell, as git does it: the variable may hold arguments, e.g. "code --wait".
    const child = spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit', env });
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0)
      throw new Error(`the editor "${editor}" ended with ${code ?? 'a signal'}: set EDITOR to another one`);
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
