import type { Command } from 'commander';
import { buildProgram } from '../../src/cli/program';
import type { Ended } from './command';
import { PLAN, useStage } from './stage';

jest.setTimeout(1_800_000);

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'In the Black Forest.' } });
const QUESTION = '{"id":"1","question":"Where?","answer":"In the Black Forest."}\n';

/** Returns the names of all commands, e.g. `key create`. */
function commandsOf(parent: Command, before: readonly string[] = []): string[][] {
  const path = parent.parent === null ? [] : [...before, parent.name()];
  return parent.commands.length === 0 ? [path] : parent.commands.flatMap((each) => commandsOf(each, path));
}

/** Returns arguments for a command that ends by itself, different for each try; all others print their help. */
function argumentsOf(command: string, run: string, attempt: number): readonly string[] {
  const known: Readonly<Record<string, readonly string[]>> = {
    solve: ['Where does the Danube rise?'],
    watch: [run],
    list: [],
    trace: [run],
    cost: [],
    depth: [run, '2'],
    limits: [run],
    approve: [run],
    hint: [run, 'Look at a map.'],
    retry: [run, '--from', '1'],
    cancel: [run],
    eval: ['questions.jsonl', '--methods', 'worker:alpha', '--max-cost', 'none', '--out', `out-${attempt}`],
    init: ['--config', `new-${attempt}.yaml`],
    doctor: [],
    'train list': [],
    'pool check': [],
    'data inspect': ['questions.jsonl'],
    'data split': ['questions.jsonl', '--part', 'all=1', '--out', `parts-${attempt}`],
    'store migrate': [],
    'store gc': ['--older-than', '30d'],
    'key create': [`name-${attempt}`],
    'key list': [],
    'key revoke': [`name-${attempt}`],
    'key log': [],
  };
  return known[command] ?? ['--help'];
}

const STACK = /\n\s+at /;
const LOST = 'the output of this command could not be written (ENOSPC: no space left on device, write): ';

/** Compares the ends of a command whose output or messages were lost with one that could write both; returns the faults. */
function faultsOf(whole: Ended, noOutput: Ended, noMessages: Ended): string[] {
  const isOutput = whole.stdout !== '';
  const failing = whole.code === 0 ? 1 : whole.code;
  const codes = [whole.code, isOutput ? failing : whole.code, whole.code];
  return [
    ...[whole, noOutput, noMessages].flatMap(({ code, stdout, stderr }, index) => [
      code === codes[index] ? '' : `exit code ${code} instead of ${codes[index]}: ${stdout}${stderr}`,
      STACK.test(stdout + stderr) ? `a stack: ${stdout}${stderr}` : '',
    ]),
    noOutput.stderr.includes(LOST) === isOutput ? '' : `without output: ${noOutput.stderr}`,
    (noMessages.stdout !== '') === isOutput ? '' : `without messages: ${noMessages.stdout}`,
  ].filter((fault) => fault !== '');
}

test('a stream that cannot be written ends every command in a sentence, or is done without', async () => {
  await stage.folder.write('questions.jsonl', QUESTION);
  await stage.startServer();
  const { stderr } = await stage.run('solve', 'Where does the Danube rise?');
  const run = /^(solve-[\w-]+):/m.exec(stderr)?.[1] ?? '';
  const commands = commandsOf(buildProgram());
  expect(commands.length).toBeGreaterThan(40);
  const faults: Record<string, string[]> = {};
  for (const path of commands) {
    let attempt = 0;
    const end = (files = {}): Promise<Ended> => {
      attempt += 1;
      return stage.start([...path, ...argumentsOf(path.join(' '), run, attempt)], { files }).ended;
    };
    faults[path.join(' ')] = faultsOf(
      await end(),
      await end({ stdout: '/dev/full' }),
      await end({ stderr: '/dev/full' }),
    );
  }
  expect(faults).toEqual(Object.fromEntries(commands.map((path) => [path.join(' '), []])));
});
