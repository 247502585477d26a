import type { Question } from '../../grading/question';
import type { Evaluation } from '../activities/kept';
import { REFERENCE } from '../methods/read-method';
import type { MethodRecord } from '../results';
import { meanOf, spreadOf } from '../../statistics/statistics';
import { groupBy, sumCounts, tally } from '../../statistics/tally';
import type { Table } from '../../report/report';

type Tried = Evaluation<'methods' | 'workers'>;

type Trait = 'source' | 'topic' | 'level';

const TRAITS: Readonly<Record<Trait, string>> = { source: 'data set', topic: 'topic', level: 'level' };

/** Maximum rows of a table; the largest groups come first. */
const MOST_ROWS = 100;

/** Returns tables of scores and plans by data set, topic and level, unless all questions are of one kind. */
export function breakDown(evaluation: Tried): Table[] {
  const traits = Object.keys(TRAITS) as Trait[];
  const tables = [scoresBy, plansBy].flatMap((tableOf) => traits.map((trait) => tableOf(trait, evaluation)));
  return tables.filter((table) => table !== null);
}

function scoresBy(trait: Trait, evaluation: Tried): Table | null {
  const groups = groupsBy(trait, evaluation);
  if (groups.length < 2) return null;
  const { methods } = evaluation.manifest;
  const rows = groups.slice(0, MOST_ROWS).map(([name, records]) => {
    const byMethod = groupBy(records, ({ method }) => method);
    const count = new Set(records.map(({ question }) => question)).size;
    return [name, String(count), ...methods.map((method) => describeScore(byMethod.get(method) ?? []))];
  });
  return { rows: [[TRAITS[trait], 'questions', ...methods], ...rows], numeric: true };
}

/** Turns a table that is wider than high, so that its longer list goes down the page: no screen is as wide as many methods. */
export function downThePage(table: Table): Table {
  const [head = [], ...rows] = table.rows;
  if (head.length <= rows.length + 1) return table;
  return { ...table, rows: head.map((_, column) => table.rows.map((row) => row[column] ?? '')) };
}

/** Returns e.g. `0.750 ± 0.065`, with the standard error over questions; `–` if none could be judged. */
function describeScore(records: readonly MethodRecord[]): string {
  const means = [...meanScores(records, ({ question }) => question).values()];
  const mean = meanOf(means);
  if (mean === null) return '–';
  const error = means.length < 2 ? '' : ` ± ${(spreadOf(means) / Math.sqrt(means.length)).toFixed(3)}`;
  return mean.toFixed(3) + error;
}

/** Returns the mean score of each question, over those of its tries that could be judged. */
export function meanScores(
  records: readonly MethodRecord[],
  questionOf: (record: MethodRecord) => string,
): Map<string, number> {
  const judged = records.filter(({ verdict }) => verdict !== 'ungraded');
  const meanScore = (tries: readonly MethodRecord[]): number =>
    meanOf(tries.map(({ verdict }) => Number(verdict === 'correct'))) ?? 0;
  return new Map([...groupBy(judged, questionOf)].map(([question, tries]) => [question, meanScore(tries)]));
}

/** Returns the Conductor's plans by a trait: their mean length, and the share of answered steps by worker. */
function plansBy(trait: Trait, evaluation: Tried): Table | null {
  const { workers } = evaluation.manifest;
  const records = evaluation.records.filter(({ method, plan }) => method === REFERENCE && plan !== null);
  const groups = groupsBy(trait, { ...evaluation, records });
  if (groups.length < 2) return null;
  const rows = groups.slice(0, MOST_ROWS).map(([name, found]) => {
    const counts = sumCounts(found.map((record) => record.workers));
    const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const shares = workers.map((id) => `${((100 * (counts[id] ?? 0)) / Math.max(1, all)).toFixed(0)} %`);
    const steps = meanOf(found.flatMap(({ plan }) => (plan === null ? [] : [plan.steps.length])));
    return [name, (steps ?? 0).toFixed(1), ...shares];
  });
  const head = [`${REFERENCE}, by ${TRAITS[trait]}`, 'steps', ...workers];
  return { rows: [head, ...rows], numeric: true };
}

/** Groups records by a trait of their question, the most frequent first. */
function groupsBy(trait: Trait, { records, questions }: Pick<Evaluation, 'records' | 'questions'>) {
  const traitOf = ({ index }: MethodRecord): string => {
    const question: Partial<Pick<Question, Trait>> = questions[index] ?? {};
    return question[trait] ?? 'none named';
  };
  const sizes = tally(records.map(traitOf));
  const groups = [...groupBy(records, traitOf)];
  return groups.sort(([one], [other]) => (sizes[other] ?? 0) - (sizes[one] ?? 0));
}
