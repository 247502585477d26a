import { inspectDataSet, type Inspection, type Some, type Tally } from '../data/inspect';

import type { PlainGrader } from '../data/format';
import type { Copy } from '../data/question-index';
import { type Part, splitDataSets } from '../data/split';
import { counted, joinFacts } from '../../trace/describe';
import { oneLine, type Paint, wrap } from '../../trace/lines';
import { EXIT, type ExitCode, UsageError } from '../../cli/ending';
import { columnsOf, paintFor, print, say, toJson } from '../../cli/terminal';

interface InspectOptions {
  readonly against?: string;
  readonly grader?: PlainGrader;
  readonly json?: boolean;
}

/** `data inspect`: what is in a file of questions; fails where a row of it cannot be used. */
export async function inspect(file: string, options: InspectOptions): Promise<ExitCode> {
  const { against, grader, json = false } = options;
  const inspection = await inspectDataSet(file, against, grader);
  const shown = json
    ? toJson(inspection)
    : render(inspection, paintFor(process.stdout), columnsOf(process.stdout) ?? 120).join('\n');
  await print(shown, { painted: !json });
  return inspection.badRows === 0 ? EXIT.answered : EXIT.failed;
}

interface SplitOptions {
  readonly part: readonly Part[];
  readonly out: string;
  readonly seed: number;
  readonly grader?: PlainGrader;
  readonly since?: string;
  readonly until?: string;
}

/** `data split`: draws parts that repeat nothing of each other, for training and for judging by. */
export async function split(files: readonly string[], { part, ...options }: SplitOptions): Promise<ExitCode> {
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

function render(inspection: Inspection, paint: Paint, columns: number): string[] {
  const { file, kind, format, questions, mapping, graders, topics, levels, dates, leftOut } = inspection;
  const head = joinFacts(counted(questions, 'question'), format, kind);
  const draw = (title: string, text: string): string[] => {
    const [first = '', ...rest] = wrap([text], Math.max(20, columns - WIDTH));
    return [paint.faint(title.padEnd(WIDTH)) + first, ...rest.map((line) => ' '.repeat(WIDTH) + line)];
  };
  const mapped = Object.entries(mapping).flatMap(([field, from]) => draw(field, `← ${from}`));
  const facts = Object.entries({
    graders: describeTally(graders),
    topics: describeTally(topics),
    levels: describeTally(levels),
    dates: dates?.join(' to ') ?? '',
    'left out': describeTally(leftOut),
  }).flatMap(([title, text]) => (text === '' ? [] : draw(title, text)));
  return [
    `${paint.strong(oneLine(file, columns))}  ${paint.faint(head)}`,
    ...(mapped.length === 0 ? [] : ['', ...mapped]),
    '',
    ...facts,
    ...describeFaults(inspection, columns, paint),
  ];
}

const WIDTH = 12;
const MOST_NAMES = 8;

function describeTally(tally: Tally): string {
  const names = Object.entries(tally);
  const more = names.length - MOST_NAMES;
  const shown = names
    .slice(0, MOST_NAMES)
    .map(([name, count]) => `${name} (${count.toLocaleString('en-US')})`);
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function describeFaults(inspection: Inspection, columns: number, paint: Paint): string[] {
  const { file, problems, badRows, repeatedIds, copies, overlap, questions } = inspection;
  const list = <Each>(
    title: string,
    { count, first }: Some<Each>,
    line: (each: Each) => string,
  ): string[] => {
    if (count === 0) return [];
    const more = count - first.length;
    const lines = [...first.map(line), ...(more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : [])];
    return ['', paint.bad(`${title}:`), ...lines.map((each) => `  ${oneLine(each, columns - 2)}`)];
  };
  const describeCopy = ({ place, of, share }: Copy): string => {
    const other = within(overlap?.file ?? file, within(file, of));
    const what = share === 1 ? 'the same as' : `${Math.floor(100 * share)} % of it is in`;
    return `${within(file, place)}: ${what} ${other}`;
  };
  const faults = [
    ...list(`${counted(badRows, 'row')} cannot be used`, problems, (problem) => problem),
    ...list('The id of an earlier question', repeatedIds, ({ place, of, id }) => {
      return `${within(file, place)}: ${id}, as in ${within(file, of)}`;
    }),
    ...list(`${counted(copies.count, 'question')} repeated`, copies, describeCopy),
  ];
  if (overlap === null) return faults.length === 0 ? ['', paint.good('Nothing is wrong with it.')] : faults;
  const against = `${counted(overlap.questions, 'question')} in ${overlap.file}`;
  if (overlap.count === 0) return [...faults, '', paint.good(`None repeats one of ${against}.`)];
  const share = `${overlap.count.toLocaleString('en-US')} of ${questions.toLocaleString('en-US')}`;
  return [...faults, ...list(`${share} repeat one of ${against}`, overlap, describeCopy)];
}

/** `line 3` or `row 3` for a place in a file that the reader has in mind. */
function within(file: string, place: string): string {
  return place.startsWith(file) ? place.slice(file.length).replace(/^, /, '').replace(/^:/, 'line ') : place;
}
