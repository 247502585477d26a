import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { limitedPython } from './bubblewrap';
import { runCommand } from './run-command';
import { type Program, type ProgramLimits, type ProgramRun, type Sandbox, SandboxError } from './sandbox';

/**
 * No sandbox: a program may read and write whatever this process may, and use its network. Only time, memory and
 * processes are limited.
 */
export class UnsafeSandbox implements Sandbox {
  readonly name = 'no-sandbox';
  readonly places = availableParallelism();

  async run({ python, stdin }: Program, limits: ProgramLimits): Promise<ProgramRun> {
    if (process.getuid?.() === 0) throw new SandboxError('code without a sandbox is never run as root');
    const folder = await mkdtemp(join(tmpdir(), 'conductor-code-'));
    try {
      await writeFile(join(folder, 'main.py'), python);
      await writeFile(join(folder, 'stdin'), stdin);
      const [file = '', ...args] = limitedPython(limits, 'main.py', 'stdin');
      return await runCommand({ file, args, cwd: folder, texts: [], reports: false }, limits);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
