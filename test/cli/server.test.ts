import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type RunningCommand, said } from './command';
import { poolAt, serverRuns } from './folder';
import { useFolder } from './stage';

const stage = useFolder();
beforeEach(() => stage.folder.write('conductor.yaml', poolAt('http://127.0.0.1:1')));

const server = (...command: string[]): string[] => ['server', '--', ...command];

test('a program runs beside a server that it finds by its environment, and its exit code is kept', async () => {
  const program =
    "const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = process.env; console.log(TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, '--seed'); process.exitCode = 3";
  const { code, stdout } = await stage.start(server(process.execPath, '-e', program)).ended;
  expect(stdout).toMatch(/^127\.0\.0\.1:\d+ default --seed\n$/);
  expect(code).toBe(3);
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('SIGTERM reaches the program, and the server ends after it', async () => {
  const program =
    "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000); console.error('up')";
  const running = stage.start(server(process.execPath, '-e', program));
  await running.hear(/^up$/m);
  running.signal('SIGTERM');
  expect(await running.ended).toMatchObject({ code: 0 });
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('a program that is not there is named', async () => {
  const { code, stderr } = await stage.start(server('nod', 'worker.js')).ended;
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: said(/nod cannot be run \(.*PATH.*\): check the command after "--"/),
  });
});

test('without a program it tells the address, and runs until Ctrl-C', async () => {
  const running = stage.start(['server']);
  await running.hear(/export TEMPORAL_ADDRESS=127\.0\.0\.1:\d+/);
  expect(await stage.start(['list']).ended).toMatchObject({ code: 0 });
  running.signal('SIGINT');
  await running.hear(/^Stopping\./m);
  expect(await running.ended).toMatchObject({ code: 0 });
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('where no worker is, each command says so, and Ctrl-C gives the shell back though its poll is not answered', async () => {
  const temporal = stage.start(['server']);
  const [, TEMPORAL_ADDRESS = ''] = await temporal.hear(/TEMPORAL_ADDRESS=(\S+)/);
  const elsewhere = { env: { TEMPORAL_ADDRESS } };
  const absence = /No worker polls task queue conductor at .* Start one with: temporal-conductor worker/;
  const { code, stdout, stderr } = await stage.start(['solve', 'Where?', '--detach'], elsewhere).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: said(absence) });
  expect((await stage.start(['depth', stdout.trim(), '1'], elsewhere).ended).stderr).toMatch(absence);

  const watching = stage.start(['watch', stdout.trim()], elsewhere);
  await watching.hear(absence);
  await interruptBesideFrozenServer(watching);
  temporal.signal('SIGINT');
  await temporal.ended;
});

test('a worker that does not end in time is no failure of its command', async () => {
  const silent = createServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  await stage.folder.write('conductor.yaml', poolAt(`http://127.0.0.1:${port}`));
  const temporal = stage.start(['server']);
  await temporal.hear(/TEMPORAL_ADDRESS=/);
  const solving = stage.start(['solve', 'Where?']);
  await solving.hear(/writing a plan/);
  await interruptBesideFrozenServer(solving);
  temporal.signal('SIGINT');
  await temporal.ended;
  silent.closeAllConnections();
  silent.close();
});

/** Ctrl-C, while the server answers nothing. */
async function interruptBesideFrozenServer(command: RunningCommand): Promise<void> {
  const record = await readFile(join(stage.folder.path, '.conductor', 'server.json'), 'utf8');
  const { pid } = JSON.parse(record) as { pid: number };
  process.kill(pid, 'SIGSTOP');
  try {
    command.signal('SIGINT');
    expect(await command.ended).toMatchObject({ code: 130 });
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}
