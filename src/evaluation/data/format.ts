import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { z } from 'zod';
import { explainIssue } from '../../config/errors';
import { conversationTurnSchema } from '../../protocol/input';
import { fromJson } from '../../grading/readers';
import { type Question, questionSchema } from '../../grading/question';

/** Result of reading a record: a question, why it is left out on purpose, or its mistakes. */
export type Mapped =
  { readonly question: Question } | { readonly leftOut: string } | { readonly problems: readonly string[] };

/** Forms of a question. `plain`: as in its set. `paper`: with the paper's further instructions, in our words. */
export type Prompts = 'plain' | 'paper';

/** The paper's form of a set's questions. */
interface PaperForm {
  /** Its further instruction, or the field that holds it. */
  readonly prompt: string;
  readonly ask: (question: Question, fields: Readonly<Record<string, unknown>>) => Question;
}

/** Returns the paper's form with an instruction to answer in tags. `result` says what belongs in the answer tag. */
export function inTags(result: string): PaperForm {
  const prompt = `Write your work between <idea> and </idea>, then ${result} between <answer> and </answer>. Only what stands there counts.`;
  return {
    prompt,
    ask: (asked) => ({ ...asked, question: `${asked.question.trimEnd()}\n\n${prompt}`, tagged: true }),
  };
}

export const nonEmptyText = z.string({ error: 'expected a text' }).refine((value) => value.trim() !== '', {
  error: 'expected a text that is not empty',
});
export const textOrNumber = z.union([z.string(), z.number().transform(String)]);

/** Mapping from the records of a data set to questions. */
export interface DataFormat {
  readonly name: string;
  readonly fields: readonly string[];
  readonly mapping: Readonly<Record<string, string>>;
  /** Absent if the paper's form is the set's own, or not known. */
  readonly paper?: PaperForm | undefined;
  /** Whether a record with all `fields` is of this set; absent if no other set has the same fields. */
  readonly isLike?: ((record: Readonly<Record<string, unknown>>) => boolean) | undefined;
  /** @throws Error that says what is wrong with the record */
  readonly map: (record: Readonly<Record<string, unknown>>, place: string) => Mapped;
}

interface KnownSet<Schema extends z.ZodObject> extends Pick<
  DataFormat,
  'name' | 'mapping' | 'paper' | 'isLike'
> {
  readonly schema: Schema;
  /** Returns the fields that need more than `mapping`, or why the record is left out. */
  readonly draft: (record: z.output<Schema>) => Record<string, unknown> | { readonly leftOut: string };
}

export function defineSet<Schema extends z.ZodObject>(set: KnownSet<Schema>): DataFormat {
  const { name, mapping, paper, isLike, schema, draft } = set;
  const { error: missing } = schema.safeParse({});
  return {
    name,
    fields: missing?.issues.map(({ path: [field] }) => String(field)) ?? [],
    mapping,
    paper,
    isLike,
    map(record) {
      const { success, data, error } = schema.safeParse(record);
      if (!success) return { problems: error.issues.map((issue) => explainIssue(issue, record)) };
      const drafted = draft(data);
      if (typeof drafted.leftOut === 'string') return { leftOut: drafted.leftOut };
      const taken = Object.entries(mapping).map(([ours, theirs]): [string, unknown] => [ours, data[theirs]]);
      const fields = Object.entries({ ...Object.fromEntries(taken), ...drafted });
      const filled = fields.filter(([, value]) => value != null && value !== '');
      return toQuestion({ source: name, ...Object.fromEntries(filled) });
    },
  };
}

function toQuestion(draft: unknown): Mapped {
  const { success, data, error } = questionSchema.safeParse(draft);
  if (success) return { question: data };
  return { problems: error.issues.map((issue) => explainIssue(issue, draft)) };
}

const messagesSchema = z.array(conversationTurnSchema).refine((turns) => turns.at(-1)?.role === 'user');

/**
 * Returns a record with a question, taken from the last of its `messages` if it has none.
 * @throws Error for messages that are not a conversation
 */
export function withQuestion(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { messages, ...fields } = record;
  if (messages === undefined || 'question' in fields) return record;
  const turns = messagesSchema.safeParse(fromJson(messages)).data;
  const last = turns?.at(-1);
  if (turns === undefined || last === undefined) {
    throw new Error('messages must be a list of { "role", "content" }, the last of role "user"');
  }
  const conversation = turns.slice(0, -1);
  return { ...fields, question: last.content, ...(conversation.length > 0 && { conversation }) };
}

/** Fields that a CSV cell can hold only as JSON. */
const JSON_FIELDS = [
  'conversation',
  'options',
  'tests',
  'tolerance',
  'boxed',
  'tagged',
  'verify',
  'caseSensitive',
  'timeoutSeconds',
];

function fieldsOf(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const fields = Object.entries(record).map(([name, value]) => {
    return [name, JSON_FIELDS.includes(name) ? fromJson(value) : value];
  });
  return Object.fromEntries(fields) as Record<string, unknown>;
}

export const own: DataFormat = {
  name: 'rows of our own',
  fields: ['question', 'grader'],
  mapping: {},
  map: (record) => toQuestion(fieldsOf(record)),
};

/** Graders that need only the right answer. */
export type PlainGrader = Exclude<Question['grader'], 'code' | 'custom'>;

/**
 * Returns the format of plain rows: a question and its right answer. Fields unknown to their grader are ignored.
 * Without a grader, rows with options are choices.
 */
export function pairs(grader?: PlainGrader): DataFormat {
  return {
    name: 'questions and answers',
    fields: ['question', 'answer'],
    mapping: {
      id: 'id, or file and line',
      grader: `grader, or ${grader ?? 'freeform, with options choice'}`,
    },
    map: (record, place) =>
      toPlainRow(record, place, grader ?? (record.options == null ? 'freeform' : 'choice')),
  };
}

/** Returns the format of problems, as of HMMT: their right answers are mathematics unless a grader is given. */
export function problems(grader: PlainGrader = 'math'): DataFormat {
  return {
    name: 'problems and answers',
    fields: ['problem', 'answer'],
    mapping: { id: 'file and line', question: 'problem', grader },
    map: ({ problem, answer }, place) => toPlainRow({ question: problem, answer }, place, grader),
  };
}

function toPlainRow(record: Readonly<Record<string, unknown>>, place: string, grader: PlainGrader): Mapped {
  const row: Record<string, unknown> = { id: idOfRow(place), grader, ...fieldsOf(record) };
  const graded = questionSchema.options.find(({ shape }) => shape.grader.value === row.grader);
  const named = Object.entries(row).filter(
    ([field, value]) => value !== null && field in (graded?.shape ?? row),
  );
  return toQuestion(Object.fromEntries(named));
}

/** Returns e.g. `questions-12` for line 12 of questions.jsonl, since training data comes from several files. */
function idOfRow(place: string): string {
  const end = Math.max(place.lastIndexOf(':'), place.lastIndexOf(' '));
  const [stem = ''] = basename(place.slice(0, end).replace(', row', '')).split('.');
  return `${stem.trim().slice(0, 100) || 'line'}-${place.slice(end + 1)}`;
}

/** Returns an id for a question that has none, equal in every file. */
export function idFrom(set: string, ...parts: readonly string[]): string {
  return `${set}-${hash('sha256', parts.join('\n')).slice(0, 12)}`;
}

/** Shuffles items by the hashes of their keys. */
export function inHashOrder<Item>(items: readonly Item[], keyOf: (item: Item, at: number) => string): Item[] {
  const ranked = items.map((item, at) => ({ item, rank: hash('sha256', keyOf(item, at)) }));
  return ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1)).map(({ item }) => item);
}
