import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GraderQuestion } from '../question';
import { answerTextOf, isTagged } from '../read-answer';
import { openSandbox, type ReadySandbox } from '../sandbox/open-sandbox';
import { type ProgramRun, SandboxError } from '../sandbox/sandbox';
import { type Grade, gradeOf, shown } from '../verdict';
import { isSameOutput, isSameValue } from './compare-output';

const RULES = 'code/2';

type CodeQuestion = GraderQuestion<'code'>;
type Test = CodeQuestion['tests'][number];

/** Limits of LiveCodeBench, whose seconds are wall-clock time; ours are CPU time. */
const SECONDS = 6;
const MEMORY_MB = 1024;
const MORE_OUTPUT = 65_536;
const MOST_MS = 8 * 60_000;

/**
 * Grades a Python program by tests, as LiveCodeBench does: it must pass all, and the first failed one decides. The
 * right outputs never enter the sandbox: what a program prints or returns is compared here.
 */
export async function gradeCode(question: CodeQuestion, reply: string): Promise<Grade> {
  const code = codeIn(reply);
  if (code === null)
    return gradeOf(RULES, 'unparseable', null, 'it holds no block of code between lines of ```');
  try {
    return await runTests(await openSandbox(), question, code);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    return gradeOf(RULES, 'ungraded', code, `the sandbox failed: ${shown(error.message)}`);
  }
}

/** Returns the text between the last two fences, or the whole answer if it is tagged and has no fence. */
export function codeIn(reply: string): string | null {
  const answer = answerTextOf(reply);
  const lines = answer.split(/\r?\n/);
  const isFence = (line: string): boolean => line.includes('```');
  const close = lines.findLastIndex(isFence);
  const open = close < 1 ? -1 : lines.findLastIndex((line, index) => index < close && isFence(line));
  if (open !== -1) return lines.slice(open + 1, close).join('\n');
  return close === -1 && answer !== '' && isTagged(reply) ? answer : null;
}

async function runTests(sandbox: ReadySandbox, question: CodeQuestion, code: string): Promise<Grade> {
  const { tests, function: name = null, seconds = SECONDS, memoryMb = MEMORY_MB } = question;
  const version = `${RULES} python/${sandbox.python} ${sandbox.name}`;
  const python = programFor(code, name);
  const end = Date.now() + MOST_MS;
  for (const [index, test] of tests.entries()) {
    if (Date.now() > end) {
      throw new SandboxError(`${index} of ${tests.length} tests took ${MOST_MS / 60_000} minutes`);
    }
    const outputBytes = 2 * Buffer.byteLength(test.output) + MORE_OUTPUT;
    const run = await sandbox.run({ python, stdin: test.input }, { seconds, memoryMb, outputBytes });
    const fault = faultOf(run, test, name);
    if (fault === null) continue;
    return gradeOf(version, 'wrong', code, `test ${index + 1} of ${tests.length}: ${fault}`);
  }
  return gradeOf(version, 'correct', code, `it passes ${tests.length} of ${tests.length} tests`);
}

function faultOf(run: ProgramRun, { output }: Test, name: string | null): string | null {
  if (run.kind === 'stopped') return run.reason;
  const lastWords = run.stderr.trimEnd().split('\n').at(-1) ?? '';
  if (run.exitCode !== 0) return `it failed: ${shown(lastWords) || `exit code ${run.exitCode}`}`;
  const isSame = name === null ? isSameOutput(output, run.stdout) : isSameValue(output, run.stdout);
  if (isSame) return null;
  return `it ${name === null ? 'printed' : 'returned'} ${shown(run.stdout) || 'nothing'} instead of ${shown(output)}`;
}

/** Python file beside the sources, also in the package. */
const DRIVER = join(__dirname, '../../../src/grading/code/driver.py');

/**
 * Returns the Python program that runs a solution, or one of its functions. It never sees the right output: it prints
 * what the solution prints or, as JSON, what the function returns for the JSON values on standard input, one a line.
 */
function programFor(code: string, name: string | null): string {
  const job = Buffer.from(JSON.stringify({ code, function: name })).toString('base64');
  return `${readFileSync(DRIVER, 'utf8')}\nrun("${job}")\n`;
}
