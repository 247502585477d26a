import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
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
    stderr: expect.stringMatching(/nod cannot be run \(.*PATH.*\): check the command after "--"/) as string,
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

test('where no worker is, each command says so, and Ctrl-C gives the shell back though its poll is not answered', async () => {
  const temporal = startCommand(['server'], { cwd: folder.path });
  const [, TEMPORAL_ADDRESS = ''] = await temporal.hear(/TEMPORAL_ADDRESS=(\S+)/);
  const elsewhere = { cwd: folder.path, env: { TEMPORAL_ADDRESS } };
  const absence = /No worker polls task queue conductor at .* Start one with: temporal-conductor worker/;
  const { code, stdout, stderr } = await runCommand(['solve', 'Where?', '--detach'], elsewhere);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(absence) as string });
  expect((await runCommand(['depth', stdout.trim(), '1'], elsewhere)).stderr).toMatch(absence);

  const watching = startCommand(['watch', stdout.trim()], elsewhere);
  await watching.hear(absence);
  await interruptBesideFrozenServer(watching);
  temporal.signal('SIGINT');
  await temporal.ended;
});

test('a worker that does not end in time is no failure of its command', async () => {
  const silent = createServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  await folder.write('conductor.yaml', poolAt(`http://127.0.0.1:${port}`));
  const temporal = startCommand(['server'], { cwd: folder.path });
  await temporal.hear(/TEMPORAL_ADDRESS=/);
  const solving = startCommand(['solve', 'Where?'], { cwd: folder.path });
  await solving.hear(/writing a plan/);
  await interruptBesideFrozenServer(solving);
  temporal.signal('SIGINT');
  await temporal.ended;
  silent.closeAllConnections();
  silent.close();
});

/** Ctrl-C, while the server answers nothing. */
async function interruptBesideFrozenServer(command: ReturnType<typeof startCommand>): Promise<void> {
  const record = await readFile(join(folder.path, '.conductor', 'server.json'), 'utf8');
  const { pid } = JSON.parse(record) as { pid: number };
  process.kill(pid, 'SIGSTOP');
  try {
    command.signal('SIGINT');
    expect(await command.ended).toMatchObject({ code: 130 });
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}
