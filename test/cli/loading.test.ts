import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command';
import { type Folder, makeFolder, poolAt } from './folder';

/** Prints at the end which modules the process loaded. */
const LIST = `process.on('exit', () => process.stderr.write(Object.keys(require.cache).join('\\n')));`;

let folder: Folder;

beforeAll(async () => {
  folder = await makeFolder();
  await writeFile(join(folder.path, 'list.cjs'), LIST);
});

afterAll(() => folder.remove());

async function loadedBy(...args: readonly string[]): Promise<string> {
  const env = { NODE_OPTIONS: `--require ${join(folder.path, 'list.cjs')}` };
  return (await runCommand(args, { cwd: folder.path, env })).stderr;
}

test.each([
  [['--help']],
  [['solve', '--help']],
  [['frobnicate']],
  [['solve']],
  [['retry', 'x', '--from', '0']],
  [['train', '--help']],
  [['train', 'start', '--cycles', '0']],
])('%s loads neither a schema library nor gRPC', async (args) => {
  // Temporal's notation of durations is a small module of its own.
  const duration = /common\/(lib\/(time|errors|type-helpers)\.js|node_modules\/ms\/)/.source;
  const loaded = new RegExp(`node_modules/(zod|yaml|@temporalio/(?!${duration})|@grpc)/`);
  expect(await loadedBy(...args)).not.toMatch(loaded);
});

test('the schema of training is loaded for a file with such a section alone', async () => {
  const solving = poolAt('http://127.0.0.1:1');
  await folder.write('conductor.yaml', solving);
  expect(await loadedBy('cost')).not.toMatch(/training\/config/);
  await folder.write('conductor.yaml', { ...solving, training: 3 });
  expect(await loadedBy('cost')).toMatch(/training\/config\/schema/);
});
