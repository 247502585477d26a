import { basename } from 'node:path';
import type { Question } from '../../../grading/question';
import { type DataFormat, toQuestion } from '../format';

/** Graders that judge by the right answer alone. */
export type PlainGrader = Exclude<Question['grader'], 'code' | 'custom'>;

const FIELDS = ['id', 'question', 'answer', 'grader', 'topic', 'level', 'source', 'date', 'verify'];

/** Rows that anybody would write: a question and its right answer. Other fields are left alone. */
export function pairs(grader: PlainGrader = 'freeform'): DataFormat {
  return {
    name: 'questions and answers',
    fields: ['question', 'answer'],
    mapping: { id: 'id, or file and line', grader: `grader, or ${grader}` },
    map(record, place) {
      const named = Object.entries(record).filter(([field]) => FIELDS.includes(field));
      return toQuestion({ id: idOf(place), grader, ...Object.fromEntries(named) });
    },
  };
}

/** `questions-12` for line 12 of questions.jsonl: what is trained on and judged by comes from several files. */
function idOf(place: string): string {
  const end = Math.max(place.lastIndexOf(':'), place.lastIndexOf(' '));
  const [stem = ''] = basename(place.slice(0, end).replace(', row', '')).split('.');
  return `${stem.trim().slice(0, 100) || 'line'}-${place.slice(end + 1)}`;
}
