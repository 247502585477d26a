import { createHash } from 'node:crypto';
import { z } from 'zod';
import { explainIssue } from '../../config/errors';
import { type Question, questionSchema } from '../../grading/question';

/** A field of ours by name, and what it is made of, for a person. */
export type Mapping = Readonly<Partial<Record<string, string>>>;

/** What becomes of a record: a question, one that is left out on purpose, or one with something wrong. */
export type Mapped =
  { readonly question: Question } | { readonly leftOut: string } | { readonly problems: readonly string[] };

/** How the records of a data set are made questions of. */
export interface DataFormat {
  /** For a person: `MATH-500`. */
  readonly name: string;
  /** Fields by which its records are known. */
  readonly fields: readonly string[];
  readonly mapping: Mapping;
  /** Throws an Error that says what is wrong with the record. @param place `file:line`, see `DataRow` */
  readonly map: (record: Readonly<Record<string, unknown>>, place: string) => Mapped;
}

type Draft = z.input<typeof questionSchema> | { readonly leftOut: string };

interface FormatOptions<Schema extends z.ZodObject> extends Omit<DataFormat, 'map' | 'fields'> {
  /** Its fields that are needed, and those that are used where they are there. */
  readonly schema: Schema;
  readonly draft: (record: z.output<Schema>) => Draft;
}

export function defineFormat<Schema extends z.ZodObject>({
  name,
  mapping,
  schema,
  draft,
}: FormatOptions<Schema>): DataFormat {
  const { error: missing } = schema.safeParse({});
  return {
    name,
    fields: missing?.issues.map(({ path: [field] }) => String(field)) ?? [],
    mapping,
    map(record) {
      const { success, data, error } = schema.safeParse(record);
      if (!success) return { problems: error.issues.map((issue) => explainIssue(issue, record)) };
      const drafted = draft(data);
      return 'leftOut' in drafted ? drafted : toQuestion(drafted);
    },
  };
}

/** The same for a record that is a question already. */
export function toQuestion(draft: unknown): Mapped {
  const { success, data, error } = questionSchema.safeParse(draft);
  if (success) return { question: data };
  return { problems: error.issues.map((issue) => explainIssue(issue, draft)) };
}

/** For sets whose questions have no name: one that the same question has in every file. */
export function nameOf(set: string, ...parts: readonly string[]): string {
  return `${set}-${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 12)}`;
}

/** A value that some exports of a set hold as JSON. */
export function orJson<Schema extends z.ZodType>(schema: Schema): z.ZodPreprocess<Schema> {
  return z.preprocess((value) => (typeof value === 'string' ? fromJson(value) : value), schema);
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A question with its options below it, as `A. …`. */
export function withOptions(question: string, options: readonly string[]): string {
  const lines = options.map((option, index) => `${letterOf(index)}. ${option}`);
  return [question.trim(), '', ...lines].join('\n');
}

/** `A` for the first. */
export function letterOf(index: number): string {
  return String.fromCharCode(65 + index);
}

export const text = z.string({ error: 'expected a text' }).refine((value) => value.trim() !== '', {
  error: 'expected a text that is not empty',
});
