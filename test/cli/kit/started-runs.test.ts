import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noteRun, startedRuns } from '../../../src/cli/kit/find-run';
import type { TemporalServer } from '../../../src/local/configured-server';

test('a file that no command made does not hide the runs of a folder', async () => {
  const before = process.cwd();
  const folder = await mkdtemp(join(tmpdir(), 'conductor-runs-'));
  process.chdir(folder);
  try {
    const server = { embedded: true, namespace: 'default' } as TemporalServer;
    await noteRun(server, 'a run/1');
    const runs = join(folder, '.conductor/runs/embedded_default');
    await mkdir(runs, { recursive: true });
    await writeFile(join(runs, '100%'), '');
    expect(await startedRuns(server)).toEqual(['a run/1']);
  } finally {
    process.chdir(before);
    await rm(folder, { recursive: true });
  }
});
