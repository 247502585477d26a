import { finalAnswerOf } from '../read-answer';
import { HelperError } from '../killable';
import { type Grade, gradeOf, shown, type Verdict } from '../verdict';
import { compareShapes } from './compare';
import { askEngine, type Comparison, engineVersion, INSTALL_COMPUTE_ENGINE } from './engine';
import { askMathVerify, INSTALL_MATH_VERIFY } from './math-verify';
import { MOST_CHARACTERS } from './normalize';
import { readShape } from './shape';

const RULES = 'math/2';

/** One answer, however many items it has, may take so long in the first tier. */
const MOST_MS = 15_000;

/**
 * Judges mathematics in two tiers: rules of ours and compute-engine; where these say no without two different values, or
 * cannot tell, math-verify, if it is installed.
 *
 * What neither could read is `ungraded`, and so is what took too long.
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
  const problems = opinions.flatMap(({ problem }) => problem ?? []);
  // A second tier that failed may say yes the next time.
  if (said.includes('no') && opinions.at(-1)?.hasFailed === false) {
    return ['wrong', [`it is not seen to equal ${right}`, ...problems].join(', but ')];
  }
  return ['ungraded', problems.join('; ') || 'it could not be read as mathematics'];
}

/** Where an answer is prose, its conclusion is looked for in so much of its end. */
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

/** What one tier says. */
interface Opinion {
  readonly comparison: Comparison;
  /** Why it is unknown, where that is not for what was written. */
  readonly problem: string | null;
  readonly hasFailed: boolean;
  /** Empty where no library had a say. */
  readonly version: readonly string[];
}

async function askFirst(right: string, answer: string): Promise<Opinion> {
  const version = new Set<string>();
  const end = Date.now() + MOST_MS;
  try {
    const comparison = await compareShapes(readShape(right), readShape(answer), (job) => {
      const installed = engineVersion();
      if (installed === null) throw new HelperError(`it is not installed: ${INSTALL_COMPUTE_ENGINE}`);
      if (Date.now() > end) throw new HelperError(`it takes longer than ${MOST_MS / 1000} s`);
      version.add(`compute-engine/${installed}`);
      return askEngine(job);
    });
    return { comparison, problem: null, hasFailed: false, version: [...version] };
  } catch (error) {
    return { ...failed('compute-engine', error), version: [...version] };
  }
}

async function askSecond(right: string, answer: string): Promise<Opinion> {
  try {
    const opinion = await askMathVerify(right, answer);
    if (opinion === null) {
      const problem = `math-verify is not installed: ${INSTALL_MATH_VERIFY}`;
      return { comparison: 'unknown', problem, hasFailed: false, version: [] };
    }
    const version = [`math-verify/${opinion.version}`];
    return { comparison: opinion.comparison, problem: null, hasFailed: false, version };
  } catch (error) {
    return failed('math-verify', error);
  }
}

function failed(library: string, error: unknown): Opinion {
  if (!(error instanceof HelperError)) throw error;
  return { comparison: 'unknown', problem: `${library}: ${error.message}`, hasFailed: true, version: [] };
}
