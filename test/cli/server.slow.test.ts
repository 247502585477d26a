import { serve } from '../support/serve';
import { endedWith, type RunningCommand, said } from './command';
import { poolAt, recordOf, serverRuns } from './folder';
import { useFolder } from './stage';

const stage = useFolder();
beforeEach(() => stage.folder.write('conductor.yaml', poolAt('http://127.0.0.1:1')));

const server = (...command: string[]): string[] => ['server', '--', ...command];

test('a program finds the server through its environment, and its exit code is kept', async () => {
  const program =
    "const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = process.env; console.log(TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, '--seed'); process.exitCode = 3";
  const ended = { code: 3, stdout: said(/^127\.0\.0\.1:\d+ default --seed\n$/) };
  expect(await stage.start(server(process.execPath, '-e', program)).ended).toMatchObject(ended);
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('SIGTERM reaches the program, and the server ends after it', async () => {
  const program =
    "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1000); console.error('up')";
  const running = stage.start(server(process.execPath, '-e', program));
  await running.hear(/^up$/m);
  expect(await running.end('SIGTERM')).toMatchObject({ code: 0 });
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('a missing program is named', async () => {
  expect(await stage.start(server('nod', 'worker.js')).ended).toMatchObject(
    endedWith(2, /nod cannot be run \(.*PATH.*\): check the command after "--"/),
  );
});

test('without a program, prints the address and runs until Ctrl-C', async () => {
  const running = stage.start(['server']);
  await running.hear(/export TEMPORAL_ADDRESS=127\.0\.0\.1:\d+/);
  expect(await stage.start(['list']).ended).toMatchObject({ code: 0 });
  running.signal('SIGINT');
  await running.hear(/^Stopping\./m);
  expect(await running.ended).toMatchObject({ code: 0 });
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('without a worker, each command says so, and Ctrl-C returns to the shell even if a poll is pending', async () => {
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
  await temporal.end('SIGINT');
});

test('Ctrl-C ends a solve with code 130 even if its worker does not end in time', async () => {
  const silent = await serve(() => undefined);
  await stage.folder.write('conductor.yaml', poolAt(silent.url));
  const temporal = stage.start(['server']);
  await temporal.hear(/TEMPORAL_ADDRESS=/);
  const solving = stage.start(['solve', 'Where?']);
  await solving.hear(/writing a plan/);
  await interruptBesideFrozenServer(solving);
  await temporal.end('SIGINT');
  await silent.close();
});

/** Presses Ctrl-C while the server is frozen. */
async function interruptBesideFrozenServer(command: RunningCommand): Promise<void> {
  const { pid } = await recordOf(stage.folder);
  process.kill(pid, 'SIGSTOP');
  try {
    expect(await command.end('SIGINT')).toMatchObject({ code: 130 });
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}
