import {
  type Copy,
  inspectDataSet,
  type Inspection,
  type PlainGrader,
  type Prompts,
  type Some,
  splitDataSets,
  type SplitOptions,
  type NameCounts,
} from '../../evaluation/data';
import { someOf } from '../../config/errors';
import { counted, joinFacts } from '../../trace/describe';
import { beside, oneLine, type Paint } from '../../trace/lines';
import { EXIT, type ExitCode } from '../kit/ending';
import { UsageError } from '../../errors';
import { columnsOf, paintFor, print, say, toJson } from '../kit/terminal';

/** Runs `data inspect`: reports on a file of questions; fails if a row cannot be used. */
export async function inspect(
  file: string,
  options: {
    readonly against?: string;
    readonly grader?: PlainGrader;
    readonly prompts?: Prompts;
    readonly json?: boolean;
  },
): Promise<ExitCode> {
  const { json = false, ...how } = options;
  const inspection = await inspectDataSet(file, how);
  const shown = json
    ? toJson(inspection)
    : render(inspection, paintFor(process.stdout), columnsOf(process.stdout) ?? 120).join('\n');
  await print(shown, { painted: !json });
  return inspection.badRows === 0 ? EXIT.answered : EXIT.failed;
}

interface Options extends Omit<SplitOptions, 'parts'> {
  readonly part: SplitOptions['parts'];
}

/** Runs `data split`: draws disjoint parts, for training and for evaluation. */
export async function split(files: readonly string[], { part, ...options }: Options): Promise<ExitCode> {
  if (new Set(part.map(({ name }) => name)).size < part.length)
    throw new UsageError('--part: give each part a name of its own');
  const { parts, copies, badRows } = await splitDataSets(files, { ...options, parts: part });
  for (const { file, sources } of parts) {
    const count = Object.values(sources).reduce((sum, each) => sum + each, 0);
    await print(`${file}: ${counted(count, 'question')}, ${describeTally(sources)}`);
  }
  if (copies > 0) say(`Left out: ${counted(copies, 'question')} that repeat another one.`);
  if (badRows > 0)
    say(`Left out: ${counted(badRows, 'row')} that cannot be used; "data inspect" says which.`);
  return EXIT.answered;
}

const WIDTH = 12;

function render(inspection: Inspection, paint: Paint, columns: number): string[] {
  const { file, kind, format, questions, mapping, prompt, graders, topics, levels, dates, leftOut } =
    inspection;
  const head = joinFacts(counted(questions, 'question'), format, kind);
  const draw = ([title, text]: readonly [string, string]): string[] =>
    text === '' ? [] : beside(paint.faint(title.padEnd(WIDTH)), WIDTH, text, columns);
  const mapped = Object.entries(mapping).flatMap(([field, from]) => draw([field, `← ${from}`]));
  return [
    `${paint.strong(oneLine(file, columns))}  ${paint.faint(head)}`,
    ...(mapped.length === 0 ? [] : ['', ...mapped]),
    '',
    ...draw(['prompt', prompt ?? '']),
    ...draw(['graders', describeTally(graders)]),
    ...draw(['topics', describeTally(topics)]),
    ...draw(['levels', describeTally(levels)]),
    ...draw(['dates', dates?.join(' to ') ?? '']),
    ...draw(['left out', describeTally(leftOut)]),
    ...describeFaults(inspection, columns, paint),
  ];
}

function describeTally(tally: NameCounts): string {
  return someOf(Object.entries(tally).map(([name, count]) => `${name} (${count.toLocaleString('en-US')})`));
}

function describeFaults(inspection: Inspection, columns: number, paint: Paint): string[] {
  const { problems, badRows, repeatedIds, copies, overlap, questions } = inspection;
  const list = (title: string, { count, first }: Some<string>): string[] => {
    if (count === 0) return [];
    const more = count - first.length;
    const lines = [...first, ...(more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : [])];
    return ['', paint.bad(`${title}:`), ...lines.map((line) => `  ${oneLine(line, columns - 2)}`)];
  };
  const copied = ({ count, first }: Some<Copy>): Some<string> => ({
    count,
    first: first.map(({ place, of, share }) => {
      const what = share === 1 ? 'the same as' : `${Math.floor(100 * share)} % of it is in`;
      return `${place}: ${what} ${of}`;
    }),
  });
  const ids = repeatedIds.first.map(({ place, of, id }) => `${place}: ${id}, as in ${of}`);
  const faults = [
    ...list(`${counted(badRows, 'row')} cannot be used`, problems),
    ...list('The id of an earlier question', { ...repeatedIds, first: ids }),
    ...list(`${counted(copies.count, 'question')} repeated`, copied(copies)),
  ];
  if (overlap === null) return faults.length === 0 ? ['', paint.good('Nothing is wrong with it.')] : faults;
  const against = `${counted(overlap.questions, 'question')} in ${overlap.file}`;
  if (overlap.count === 0) return [...faults, '', paint.good(`None repeats one of ${against}.`)];
  const share = `${overlap.count.toLocaleString('en-US')} of ${questions.toLocaleString('en-US')}`;
  return [...faults, ...list(`${share} repeat one of ${against}`, copied(overlap))];
}
