import { fork } from 'node:child_process';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArtifactFolder } from '../../src/training/artifacts';
import { freshFolder } from '../local/fresh-folder';

let root: string;
let files: ArtifactFolder;
beforeEach(async () => {
  root = join(await freshFolder(), 'artifacts');
  files = new ArtifactFolder(root);
});

test('reads nothing before the first write, and then what was written last', async () => {
  expect(await files.list('')).toEqual([]);
  expect([await files.read('a/b'), await files.stat('a/b')]).toEqual([null, null]);
  await files.write('a/b', Buffer.from('one'));
  await files.write('a/b', Buffer.from('two!'));
  expect(await files.stat('a/b')).toMatchObject({ key: 'a/b', bytes: 4 });
  expect(await readFile(join(root, 'a/b'), 'utf8')).toBe('two!');
  expect(await readdir(join(root, 'unfinished'))).toEqual([]);
});

test('lists what lies below a prefix, and nothing that is not a key', async () => {
  for (const key of ['a/c/1', 'a/b', 'ab/x']) await files.write(key, Buffer.from(key));
  await writeFile(join(root, 'a', '.hidden'), '');
  expect(await files.list('a/')).toEqual(['a/b', 'a/c/1']);
  expect(await files.list('')).toEqual(['a/b', 'a/c/1', 'ab/x']);
  expect(await files.list('a/b/')).toEqual([]);
});

test('no key leads out of the folder', async () => {
  for (const key of ['../a', '/etc/passwd', 'a/../../b', '', 'a//b', '.a'])
    await expect(async () => files.write(key, Buffer.from(''))).rejects.toThrow('is refused');
});

test('removes only what is older than a given time', async () => {
  await files.write('a/b', Buffer.from('old'));
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  expect(await files.removeOlder('a/b', ago(1))).toBe(0);
  await utimes(join(root, 'a/b'), ago(2), ago(2));
  expect(await files.removeOlder('a/b', ago(1))).toBe(3);
  expect(await files.removeOlder('a/b', new Date())).toBe(0);
  expect(await readdir(join(root, 'unfinished'))).toEqual([]);
});

test('a process killed while writing leaves the old bytes or the new ones', async () => {
  const large = 8_000_000;
  await files.write('a/b', Buffer.alloc(large, 'x'));
  for (const afterMs of [0, 3, 9, 27]) {
    const program = join(__dirname, 'programs/write-artifacts.ts');
    const execArgv = ['--require', join(__dirname, '../../scripts/run-typescript.cjs')];
    const writer = fork(program, [root, 'a/b', `${large}`], { execArgv });
    await new Promise((written) => writer.once('message', written));
    await new Promise((later) => setTimeout(later, afterMs));
    writer.kill('SIGKILL');
    const bytes = (await files.read('a/b')) ?? Buffer.alloc(0);
    expect(bytes).toHaveLength(large);
    expect(new Set(bytes).size).toBe(1);
  }
});
