import type { Graded } from '../question';
import { answerTextOf } from '../read-answer';
import { openSandbox, type ReadySandbox } from '../sandbox/open-sandbox';
import { type ProgramLimits, type ProgramRun, SandboxError } from '../sandbox/sandbox';
import { type Grade, gradeOf, shown } from '../verdict';
import { isSameOutput, isSameValue } from './compare-output';

const RULES = 'code/1';

type CodeQuestion = Graded<'code'>;
type Test = CodeQuestion['tests'][number];

/** Limits of LiveCodeBench, whose seconds are of wall-clock time. */
const SECONDS = 6;
const MEMORY_MB = 1024;
const MORE_OUTPUT = 65_536;
const MOST_MS = 8 * 60_000;

/**
 * Judges a program in Python by tests, as LiveCodeBench does: it passes all, and the first that it fails decides. What is
 * right never enters the sandbox: a program prints or returns something, and it is compared here.
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

/** Takes the text between the last two fences; without one, all of an answer that is tagged as one. */
export function codeIn(reply: string): string | null {
  const answer = answerTextOf(reply);
  const lines = answer.split(/\r?\n/);
  const close = lines.findLastIndex(isFence);
  const open = close < 1 ? -1 : lines.findLastIndex((line, index) => index < close && isFence(line));
  if (open !== -1) return lines.slice(open + 1, close).join('\n');
  return close === -1 && answer !== '' && /<answer>/i.test(reply) ? answer : null;
}

function isFence(line: string): boolean {
  return line.includes('```');
}

async function runTests(sandbox: ReadySandbox, question: CodeQuestion, code: string): Promise<Grade> {
  const { tests, function: name = null } = question;
  const version = `${RULES} python/${sandbox.python} ${sandbox.name}`;
  const python = programFor(code, name);
  const end = Date.now() + MOST_MS;
  for (const [index, test] of tests.entries()) {
    if (Date.now() > end) {
      throw new SandboxError(`${index} of ${tests.length} tests took ${MOST_MS / 60_000} minutes`);
    }
    const run = await sandbox.run({ python, stdin: test.input }, limitsFor(question, test));
    const fault = faultOf(run, test, name);
    if (fault === null) continue;
    return gradeOf(version, 'wrong', code, `test ${index + 1} of ${tests.length}: ${fault}`);
  }
  return gradeOf(version, 'correct', code, `it passes ${tests.length} of ${tests.length} tests`);
}

function limitsFor(
  { seconds = SECONDS, memoryMb = MEMORY_MB }: CodeQuestion,
  { output }: Test,
): ProgramLimits {
  return { seconds, memoryMb, outputBytes: 2 * Buffer.byteLength(output) + MORE_OUTPUT };
}

function faultOf(run: ProgramRun, { output }: Test, name: string | null): string | null {
  if (run.kind === 'stopped') return run.reason;
  if (run.exitCode !== 0) return `it failed: ${shown(lastLineOf(run.stderr)) || `exit code ${run.exitCode}`}`;
  const isSame = name === null ? isSameOutput(output, run.stdout) : isSameValue(output, run.stdout);
  if (isSame) return null;
  return `it ${name === null ? 'printed' : 'returned'} ${shown(run.stdout) || 'nothing'} instead of ${shown(output)}`;
}

function lastLineOf(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

/**
 * The Python program that runs a solution once, or one of its functions or methods of its class `Solution`. It is never told
 * what is right: it prints what the solution prints or, as JSON, what the function returns for the JSON values on standard
 * input, one a line.
 */
function programFor(code: string, name: string | null): string {
  const job = Buffer.from(JSON.stringify({ code, function: name })).toString('base64');
  return `${DRIVER}\nrun("${job}")\n`;
}

/** Names that LiveCodeBench gives every solution, its limits of recursion and of digits among them. */
const DRIVER = `
import base64, json, os, sys, types

MODULES = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json "
    "builtins typing"
).split()
PRELUDE = "".join(f"from {name} import *\\n" for name in MODULES) + f"import {', '.join(MODULES)}\\n"


def run(job):
    solution = json.loads(base64.b64decode(job))
    os.closerange(3, 4096)  # Whatever the worker inherited, and left open.
    sys.setrecursionlimit(50_000)
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(50_000)
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(PRELUDE, module.__dict__)
    try:
        if solution["function"] is None:
            exec(compile(solution["code"], "solution.py", "exec"), module.__dict__)
        else:
            call(solution, module)
    except SystemExit:
        pass


def call(solution, module):
    values = [json.loads(line) for line in sys.stdin.read().split("\\n") if line.strip()]
    result = os.dup(1)
    os.dup2(2, 1)  # What it prints is not what it returns.
    exec(compile(solution["code"], "solution.py", "exec"), module.__dict__)
    owner = module.Solution() if hasattr(module, "Solution") else module
    value = getattr(owner, solution["function"])(*values)
    text = json.dumps(value, allow_nan=False, default=lambda other: other.item())  # numpy's own numbers
    with open(result, "w") as file:
        file.write(text)
`.trimStart();
