import { runCommand, startCommand } from './command';
import { type Folder, makeFolder, poolAt, serverRuns } from './folder';

let folder: Folder;
beforeEach(async () => {
  folder = await makeFolder();
  await folder.write('conductor.yaml', poolAt('http://127.0.0.1:1'));
});
afterEach(() => folder.remove());

const server = (...command: string[]): string[] => ['server', '--', ...command];

test('a program runs beside a server that it finds by its environment, and its exit code is kept', async () => {
  const program =
    "const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = process.env; console.log(TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, '--seed'); process.exitCode = 3";
  const { code, stdout } = await runCommand(server(process.execPath, '-e', program), { cwd: folder.path });
  expect(stdout).toMatch(/^127\.0\.0\.1:\d+ default --seed\n$/);
  expect(code).toBe(3);
  expect(await serverRuns(folder)).toBe(false);
});

test('SIGTERM reaches the program, and the server ends after it', async () => {
  const program =
    "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000); console.error('up')";
  const running = startCommand(server(process.execPath, '-e', program), { cwd: folder.path });
  await running.hear(/^up$/m);
  running.signal('SIGTERM');
  expect(await running.ended).toMatchObject({ code: 0 });
  expect(await serverRuns(folder)).toBe(false);
});

test('a program that is not there is named', async () => {
  const { code, stderr } = await runCommand(server('nod', 'worker.js'), { cwd: folder.path });
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/nod cannot be run \(.*ENOENT.*\): check the command after "--"/) as string,
  });
});

test('without a program it tells the address, and runs until Ctrl-C', async () => {
  const running = startCommand(['server'], { cwd: folder.path });
  await running.hear(/export TEMPORAL_ADDRESS=127\.0\.0\.1:\d+/);
  expect(await runCommand(['list'], { cwd: folder.path })).toMatchObject({ code: 0 });
  running.signal('SIGINT');
  await running.hear(/^Stopping\./m);
  expect(await running.ended).toMatchObject({ code: 0 });
  expect(await serverRuns(folder)).toBe(false);
});
