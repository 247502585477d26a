import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { needProcesses, runChild } from '../support/programs';
import { unlessAborted } from '../../src/runtime/turns';
import { freshFolder } from '../../test/local/fresh-folder';
import { untilGone } from '../../test/support/until';

const FOREVER = new Promise<never>(() => undefined);

/** Starts a process that prints a line and then runs the program; resolves after that line. */
async function start(program: string) {
  const file = join(await freshFolder(), 'program.js');
  await writeFile(file, `console.log('ready'); ${program}`);
  const child = runChild(file, [], process.env);
  await child.nextLine();
  return child;
}

test('work ends at once, naming the process that ended, its exit code and its last output', async () => {
  const { lost, need } = needProcesses('/somewhere');
  need('policy server', await start("console.error('out of memory'); process.exitCode = 7;"));
  await expect(unlessAborted(lost, FOREVER)).rejects.toThrow(
    'The policy server ended with exit code 7:\nout of memory\n' +
      'The run cannot continue without it. Progress is saved in /somewhere; run this command again.',
  );
  await expect(unlessAborted(lost, FOREVER)).rejects.toThrow('exit code 7');
});

test('a process ended by a signal is reported with that signal', async () => {
  const { lost, need } = needProcesses('/somewhere');
  const { pid } = need('trainer', await start('setInterval(() => undefined, 1000);'));
  process.kill(pid, 'SIGSEGV');
  await expect(unlessAborted(lost, FOREVER)).rejects.toThrow('The trainer was ended by SIGSEGV');
});

test.each(['kill', 'stop'] as const)(
  'a process that was told to end by %s() does not count as lost',
  async (order) => {
    const { lost, need } = needProcesses('/somewhere');
    const program = need('trainer', await start('setInterval(() => undefined, 1000);'));
    await expect(
      unlessAborted(
        lost,
        program[order]().then(() => 'done'),
      ),
    ).resolves.toBe('done');
    expect(lost.aborted).toBe(false);
  },
);

test('a program that is asked to end first ends what it started', async () => {
  const [programs, turns] = ['research/support/programs', 'src/runtime/turns'].map((path) =>
    JSON.stringify(join(__dirname, '../..', path)),
  );
  const server = join(await freshFolder(), 'server.js');
  await writeFile(server, 'console.log(process.pid); setInterval(() => undefined, 1000);');
  const program = await start(`
    const { needProcesses, runChild } = require(${programs});
    const { unlessAborted } = require(${turns});
    const { lost, need } = needProcesses('/somewhere');
    const server = need('server', runChild(${JSON.stringify(server)}, [], process.env));
    void server.nextLine().then((pid) => console.log(pid));
    const work = new Promise((resolve) => setTimeout(resolve, 600_000));
    unlessAborted(lost, work).catch((error) => {
      console.log(error.message);
      process.exit(3);
    });`);
  const pid = Number(await program.nextLine());
  process.kill(program.pid, 'SIGINT');
  expect(await program.nextLine()).toMatch(/^Interrupted\. Progress is saved/);
  expect(await program.ended()).toBe(3);
  await untilGone(pid);
});

test('waiting for a line that never comes fails and says how the process ended', async () => {
  const program = await start("console.error('no such port'); process.exitCode = 3;");
  await expect(program.nextLine()).rejects.toThrow(/program\.js ended with exit code 3:\nno such port/);
});
