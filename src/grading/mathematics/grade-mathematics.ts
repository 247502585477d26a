import { finalAnswerOf } from '../read-answer';
import { HelperError } from '../killable';
import { type Grade, gradeOf, shown } from '../verdict';
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
  const first = await compareFirst(right, answer);
  const versions = first.asked ? [RULES, `compute-engine/${engineVersion() ?? 'none'}`] : [RULES];
  const say = gradeOf.bind(null, versions.join(' '));
  if (first.comparison === 'same') return say('correct', answer, `it equals ${shown(right)}`);
  if (first.comparison === 'different') return say('wrong', answer, `it differs from ${shown(right)}`);
  return gradeSecond({ right, answer, first, versions });
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

interface FirstOpinion {
  readonly comparison: Comparison;
  /** Why it is unknown, where that is not for what was written. */
  readonly problem: string | null;
  /** Whether compute-engine had a say. */
  readonly asked: boolean;
}

async function compareFirst(right: string, answer: string): Promise<FirstOpinion> {
  let asked = false;
  const end = Date.now() + MOST_MS;
  try {
    const comparison = await compareShapes(readShape(right), readShape(answer), (job) => {
      if (engineVersion() === null) throw new HelperError(`it is not installed: ${INSTALL_COMPUTE_ENGINE}`);
      if (Date.now() > end) throw new HelperError(`it takes longer than ${MOST_MS / 1000} s`);
      asked = true;
      return askEngine(job);
    });
    return { comparison, problem: null, asked };
  } catch (error) {
    if (!(error instanceof HelperError)) throw error;
    return { comparison: 'unknown', problem: `compute-engine: ${error.message}`, asked };
  }
}

/** Comparison that the first tier leaves open. */
interface OpenQuestion {
  readonly right: string;
  readonly answer: string;
  readonly first: FirstOpinion;
  readonly versions: readonly string[];
}

async function gradeSecond({ right, answer, first, versions }: OpenQuestion): Promise<Grade> {
  const second = await askSecond(right, answer);
  const { comparison, version } = second;
  const say = gradeOf.bind(null, [...versions, ...version].join(' '));
  if (comparison === 'same') return say('correct', answer, `it equals ${shown(right)}`);
  // A failed second tier may say yes the next time.
  if (!second.hasFailed && (comparison === 'no' || first.comparison === 'no')) {
    const doubt = second.problem === null ? '' : `, but ${second.problem}`;
    return say('wrong', answer, `it is not seen to equal ${shown(right)}${doubt}`);
  }
  const problems = [first.problem, second.problem].filter((problem) => problem !== null);
  return say('ungraded', answer, problems.join('; ') || 'it could not be read as mathematics');
}

interface SecondAnswer {
  readonly comparison: Comparison;
  readonly hasFailed: boolean;
  readonly problem: string | null;
  /** Empty where it had no say. */
  readonly version: readonly string[];
}

async function askSecond(right: string, answer: string): Promise<SecondAnswer> {
  try {
    const opinion = await askMathVerify(right, answer);
    if (opinion === null) {
      const problem = `math-verify is not installed: ${INSTALL_MATH_VERIFY}`;
      return { comparison: 'unknown', hasFailed: false, problem, version: [] };
    }
    const { comparison, version } = opinion;
    return { comparison, hasFailed: false, problem: null, version: [`math-verify/${version}`] };
  } catch (error) {
    if (!(error instanceof HelperError)) throw error;
    return { comparison: 'unknown', hasFailed: true, problem: `math-verify: ${error.message}`, version: [] };
  }
}
