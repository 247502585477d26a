import { join } from 'node:path';
import type { CommandSetting } from './command';
import { poolAt } from './folder';
import { useFolder } from './stage';

/** Script that prints at exit which modules the process loaded. */
const LIST = `process.on('exit', () => process.stderr.write(Object.keys(require.cache).join('\\n')));`;

const stage = useFolder();

async function loadedBy(args: readonly string[], setting?: Partial<CommandSetting>): Promise<string> {
  await stage.folder.write('list.cjs', LIST);
  const env = { NODE_OPTIONS: `--require ${join(stage.folder.path, 'list.cjs')}` };
  return (await stage.start(args, { ...setting, env }).ended).stderr;
}

test.each([
  [['--help']],
  [['solve', '--help']],
  [['frobnicate']],
  [['solve']],
  [['retry', 'x', '--from', '0']],
  [['train', '--help']],
  [['train', 'start', '--cycles', '0']],
  [['key', 'create', '--help']],
  [['key', 'create', 'x', '--expires', '0d']],
])('%s loads neither a schema library nor gRPC', async (args) => {
  // Temporal's parser of durations is a small module of its own, which may be loaded.
  const duration = /common\/(lib\/(time|errors|type-helpers)\.js|node_modules\/ms\/)/.source;
  const loaded = new RegExp(`node_modules/(zod|yaml|@temporalio/(?!${duration})|@grpc)/`);
  expect(await loadedBy(args)).not.toMatch(loaded);
});

test('the training schema is loaded only for a file with a training section', async () => {
  const solving = poolAt('http://127.0.0.1:1');
  await stage.folder.write('conductor.yaml', solving);
  expect(await loadedBy(['cost'])).not.toMatch(/training\/config/);
  await stage.folder.write('conductor.yaml', { ...solving, training: 3 });
  expect(await loadedBy(['cost'])).toMatch(/training\/config\/schema/);
});

test('a gateway loads the work of nights and evaluations only when it is asked for', async () => {
  const program = join(__dirname, '../../lib/gateway/server.js');
  const loaded = await loadedBy([], { program });
  expect(loaded).toMatch(/lib\/training\/records/);
  expect(loaded).not.toMatch(/lib\/(grading|training\/\w+|evaluation\/(report|activities|data))\//);
});

test('a Node that is too old is told so before anything else is loaded', async () => {
  const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } });`;
  await stage.folder.write('older.cjs', `${LIST}${older}`);
  const env = { NODE_OPTIONS: `--require ${join(stage.folder.path, 'older.cjs')}` };
  const { code, stderr } = await stage.start(['--help'], { env }).ended;
  expect(code).toBe(2);
  expect(stderr).toMatch(/^temporal-conductor: this is Node 18\.20\.4, and >=20\.19 is needed: install it/);
  expect(stderr).not.toContain('commander');
});
