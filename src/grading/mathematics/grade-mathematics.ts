import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { finalAnswerOf } from '../read-answer';
import { HelperError, Killable, startThread } from '../../runtime/killable';
import { type Grade, gradeOf, shown, type Verdict } from '../verdict';
import { compareShapes, type Sameness } from './compare';
import { askMathVerify, INSTALL_MATH_VERIFY } from './math-verify';
import { MOST_CHARACTERS } from './normalize';
import { readShape } from './shape';

const RULES = 'math/6';

/** Time limit of the first tier for one answer, however many items it has. */
const MOST_MS = 15_000;

/**
 * Grades mathematics in two tiers: our rules and compute-engine; then, unless these found equal or different values,
 * math-verify, if it is installed. An answer that neither could read, or that took too long, is `ungraded`.
 */
export async function gradeMathematics(right: string, reply: string): Promise<Grade> {
  const answer = mathematicsIn(finalAnswerOf(reply));
  if (answer === '') return gradeOf(RULES, 'unparseable', null, 'there is no answer');
  if (answer.length > MOST_CHARACTERS) {
    return gradeOf(RULES, 'wrong', answer, `it is longer than ${MOST_CHARACTERS} characters`);
  }
  const first = await askFirst(right, answer);
  const isOpen = first.comparison === 'no' || first.comparison === 'unknown';
  const opinions = isOpen ? [first, await askSecond(right, answer)] : [first];
  const version = [RULES, ...opinions.flatMap((opinion) => opinion.version)].join(' ');
  const [verdict, reason] = settle(opinions, shown(right));
  return gradeOf(version, verdict, answer, reason);
}

function settle(opinions: readonly Opinion[], right: string): readonly [Verdict, string] {
  const said = opinions.map(({ comparison }) => comparison);
  if (said.includes('same')) return ['correct', `it equals ${right}`];
  if (said.includes('different')) return ['wrong', `it differs from ${right}`];
  const problems = opinions.flatMap(({ problem = [] }) => problem);
  // A second tier that failed may say yes next time, so the answer stays ungraded.
  if (said.includes('no') && opinions.at(-1)?.hasFailed !== true) {
    return ['wrong', [`it could not be shown to equal ${right}`, ...problems].join(', but ')];
  }
  return ['ungraded', problems.join('; ') || 'it could not be read as mathematics'];
}

/** Characters at the end of a prose answer in which its conclusion is searched. */
const CONCLUSION = 2_000;
const AROUND_FORMULAS = /\$\$?|\\[()[\]]/;

/** Reduces prose to the formulas of the last line that has any; returns anything else as it is. */
function mathematicsIn(answer: string): string {
  const lines = answer.slice(-CONCLUSION).split('\n');
  for (const line of lines.reverse()) {
    const parts = line.split(AROUND_FORMULAS);
    const formulas = parts.filter((part, index) => index % 2 === 1 && part.trim() !== '');
    if (formulas.length === 0 || parts.length % 2 === 0) continue;
    const prose = parts.filter((_, index) => index % 2 === 0).join(' ');
    const words = prose.match(/\b[a-zA-Z]{3,}\b/g) ?? [];
    return words.length >= 2 ? formulas.join(' , ') : answer;
  }
  return answer;
}

interface Opinion {
  readonly comparison: Sameness;
  readonly version: readonly string[];
  /** Why the comparison is unknown, unless the answer itself is the reason. */
  readonly problem?: string;
  readonly hasFailed?: true;
}

async function askFirst(right: string, answer: string): Promise<Opinion> {
  const version = new Set<string>();
  const end = Date.now() + MOST_MS;
  try {
    const comparison = await compareShapes(readShape(right), readShape(answer), async (job) => {
      const installed = engineVersion();
      if (installed === null) throw new HelperError(`it is not installed: ${INSTALL_COMPUTE_ENGINE}`);
      if (Date.now() > end) throw new HelperError(`it takes longer than ${MOST_MS / 1000} s`);
      version.add(`compute-engine/${installed}`);
      return (await thread.ask(job)) as Sameness;
    });
    return { comparison, version: [...version] };
  } catch (error) {
    return { ...failed('compute-engine', error), version: [...version] };
  }
}

async function askSecond(right: string, answer: string): Promise<Opinion> {
  try {
    const opinion = await askMathVerify(right, answer);
    if (opinion !== null) return { ...opinion, version: [`math-verify/${opinion.version}`] };
    const problem = `math-verify is not installed: ${INSTALL_MATH_VERIFY}`;
    return { comparison: 'unknown', version: [], problem };
  } catch (error) {
    return failed('math-verify', error);
  }
}

function failed(library: string, error: unknown): Opinion {
  if (!(error instanceof HelperError)) throw error;
  return { comparison: 'unknown', version: [], problem: `${library}: ${error.message}`, hasFailed: true };
}

const PACKAGE = '@cortex-js/compute-engine';
/** 46 MB that only the grader of mathematics needs. */
export const INSTALL_COMPUTE_ENGINE = `npm install ${PACKAGE}@0.140`;

/** Plain JavaScript beside the sources: a thread loads the file as it is, in the package and in tests. */
const THREAD = join(__dirname, '../../../src/grading/mathematics/engine-thread.cjs');
/** Memory limit of the thread. A tower of exponents exceeds it, which ends the thread. */
const MEMORY_MB = 512;

/** Returns the installed version of compute-engine, or null if there is none. */
export function engineVersion(): string | null {
  try {
    // The package does not export its package.json; the file that is loaded lies two folders below it.
    const file = join(createRequire(THREAD).resolve(PACKAGE), '../../../package.json');
    return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  } catch {
    return null;
  }
}

/** One thread per process; its first request starts it and loads compute-engine. */
const thread = new Killable(() => startThread(THREAD, MEMORY_MB), { startMs: 60_000, answerMs: 3_000 });
