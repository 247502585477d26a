import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import OpenAI from 'openai';
import { PLAN, useStage } from '../cli/stage';
import { describeInBubblewrap } from '../grading/code/bubblewrap-here';
import { ROOT } from '../newcomer/pages';
import { atTheEnd } from '../support/at-the-end';
import { closedPort } from '../support/closed-port';
import { testServerAddress } from '../support/test-server';
import { until } from '../support/until';
import { type Container, optionOf, templateIn } from './manifests';

jest.setTimeout(240_000);

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'Paris' } }, { server: 'shared' });
const started: ChildProcess[] = [];
atTheEnd(() => started.map((child) => child.kill('SIGKILL')));

const [worker] = templateIn('worker.yaml').spec.containers;
const [gateway] = templateIn('gateway.yaml').spec.containers;

/**
 * Runs the command line as a manifest has Kubernetes run it: as user 1000, with nothing to write but what is mounted.
 * The folder of the test stands for /work of the image. Returns the ports in place of the manifest's.
 */
async function run(container: Container, options: readonly string[]): Promise<Record<string, number>> {
  const folder = stage.folder.path;
  const own = join(folder, '.conductor');
  await mkdir(own, { recursive: true });
  const ports: Record<string, number> = {};
  for (const option of options) ports[option] = await closedPort();
  const args = container.args.map((word, at) => {
    const port = ports[container.args[at - 1] ?? ''];
    return port === undefined ? word : word.replace(/\d+$/, String(port));
  });
  expect(
    container.volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath),
  ).toEqual(['/work/.conductor', '/tmp']);
  const root = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'];
  // A clone may lie below /tmp.
  const program = ['--ro-bind', ROOT, ROOT];
  const mounts = [...root, ...program, '--ro-bind', folder, folder, '--bind', own, own, '--chdir', folder];
  const user = ['--unshare-user', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL', '--die-with-parent'];
  const env = { PATH: process.env.PATH, HOME: '/home/node', TEMPORAL_ADDRESS: testServerAddress() };
  const command = [process.execPath, join(ROOT, 'lib/cli/main.js'), ...args, '--trust'];
  started.push(spawn('bwrap', [...mounts, ...user, ...command], { cwd: '/', env, stdio: 'inherit' }));
  return ports;
}

const statusAt = (port: number | undefined, path: string): Promise<number> =>
  fetch(`http://127.0.0.1:${port}${path}`).then(
    ({ status }) => status,
    () => 0,
  );

describeInBubblewrap('as the manifests run them', () => {
  test('worker and gateway answer a client, their probes and Prometheus', async () => {
    const secret = (await stage.run('key', 'create', 'app')).stdout.trim();
    const working = await run(worker, ['--health', '--metrics']);
    const serving = await run(gateway, ['--port']);
    const probes = [
      [working['--health'], worker.startupProbe],
      [working['--health'], worker.livenessProbe],
      [serving['--port'], gateway.startupProbe],
      [serving['--port'], gateway.livenessProbe],
      [serving['--port'], gateway.readinessProbe],
    ] as const;
    for (const [port, probe] of probes) {
      const path = probe?.httpGet.path ?? 'none';
      await until(
        () => statusAt(port, path),
        (status) => status === 200,
      );
    }
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${serving['--port']}/v1`, apiKey: secret });
    const messages = [{ role: 'user' as const, content: 'What is the capital of France?' }];
    const answer = await client.chat.completions.create({ model: 'conductor', messages });
    expect(answer.choices[0]?.message.content).toBe('Paris');
    expect(await statusAt(working['--metrics'], '/metrics')).toBe(200);
    expect(optionOf(worker, '--log-format')).toBe('json');
  });
});
