import fc from 'fast-check';
import { type Piece, readThoughts, ThoughtReader } from '../../src/plan/thoughts/read-thoughts';
import { EACH_TAG } from '../../src/plan/thoughts/tags';

/** Replies in which thoughts stand before an answer, with both. */
const APART: readonly (readonly [name: string, reply: string, thoughts: string, answer: string])[] = [
  ['a block', '<think>\nLONDON-9?\n</think>\n\nPARIS-71', 'LONDON-9?', 'PARIS-71'],
  ['no line breaks', '<think>A?</think>B', 'A?', 'B'],
  ['blanks around the tags', '<think> is it a </think> b is it', 'is it a', 'b is it'],
  ['blanks before', ' \n\n<think>A?</think>B', 'A?', 'B'],
  ['capitals', '<THINK>A?</Think>B', 'A?', 'B'],
  ['attributes', '<think type="deep" effort=3>A?</think >B', 'A?', 'B'],
  ['<thinking>', '<thinking>A?</thinking>B', 'A?', 'B'],
  ['<thought>', '<thought>\nA?\n</thought>\n\nB', 'A?', 'B'],
  ['<reasoning>', '<reasoning>A?</reasoning>B', 'A?', 'B'],
  [
    'Seed',
    '<seed:think>A?<seed:cot_budget_reflect>so far</seed:cot_budget_reflect></seed:think>B',
    'A?<seed:cot_budget_reflect>so far</seed:cot_budget_reflect>',
    'B',
  ],
  ['LongCat', '<longcat_think>A?</longcat_think>B', 'A?', 'B'],
  ['Magistral', '[THINK]A? [1] \\[x\\][/THINK]B', 'A? [1] \\[x\\]', 'B'],
  ['Kimi', '◁think▷A?◁/think▷B', 'A?', 'B'],
  [
    'gpt-oss',
    '<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B',
    'A?',
    'B',
  ],
  [
    'gpt-oss with all its tags',
    '<|start|>assistant<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>{"a":1}<|return|>',
    'A?',
    '{"a":1}',
  ],
  [
    'gpt-oss with a call and a preamble',
    '<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>final<|message|>so b is it',
    'A?I look.',
    'so b is it',
  ],
  ['gpt-oss without thoughts', '<|channel|>final<|message|>B<|end|>', '', 'B'],
  [
    'gpt-oss whose template wrote the first tag',
    'A?<|end|><|start|>assistant<|channel|>final<|message|>B',
    'A?<|end|>',
    'B',
  ],
  ['Gemma', '<|channel>thought\nA?\n<channel|>so b is it', 'A?', 'so b is it'],
  ['several blocks', '<think>A?</think>\n<think>B?</think>\n\nC', 'A?\nB?', 'C'],
  ['blocks of two kinds', '<think>A?</think><thinking>B?</thinking>C', 'A?B?', 'C'],
  ['an empty block', '<think>\n\n</think>\n\nB', '', 'B'],
  ['an empty tag', '<think/>B', '', 'B'],
  ['a block within the block', '<think>A <think>B</think> C</think>D', 'A <think>B</think> C', 'D'],
  ['a block within the block that is closed once', '<think>A\n<think>\nB</think>\nD', 'A\n<think>\nB', 'D'],
  ['another closing tag', '<think>A?</thinking>B', 'A?', 'B'],
  ['a stray closing tag behind', '<think>A?</think>\n</think>\nB', 'A?', 'B'],
  ['a closing tag alone', 'Is it A?\nNo.\n</think>\n\nB', 'Is it A?\nNo.', 'B'],
  ['a closing tag alone on its line', 'So it is A.</think>B', 'So it is A.', 'B'],
  [
    'a closing tag alone after a long text',
    `${'Is it A? No, wait. '.repeat(5000)}\n</think>\n\nB`,
    'Is it A? No, wait. '.repeat(5000).trim(),
    'B',
  ],
  ['a closing tag alone, and blanks around it', 'It was 17 and 4. </think> 21', 'It was 17 and 4.', '21'],
  ['a closing tag alone at the start', '</think>\n\nB', '', 'B'],
  [
    'a closing tag alone behind thoughts that name the tags',
    'They ask about <think> and `</think>`.\n```\n</think>\n```\nSo:\n</think>\n\nB',
    'They ask about <think> and `</think>`.\n```\n</think>\n```\nSo:',
    'B',
  ],
  ['a closing tag alone, then a block', 'A?\n</think>\n<think>\n</think>\n\nB', 'A?', 'B'],
  ['other closing tags alone', 'A?[/THINK]B', 'A?', 'B'],
  [
    'thoughts about the tags',
    '<think>They ask about "</think>" and `</think>`. The </think> tag closes.\n</think>\nIt closes.',
    'They ask about "</think>" and `</think>`. The </think> tag closes.',
    'It closes.',
  ],
  [
    'thoughts that show the tags in code',
    '<think>So:\n```\n<think>x</think>\n```\nGood.</think>It closes.',
    'So:\n```\n<think>x</think>\n```\nGood.',
    'It closes.',
  ],
  ['code in the thoughts that never ends', '<think>So:\n```\nx = 1\n</think>\nB', 'So:\n```\nx = 1', 'B'],
  ['an indented block', '    <think>\n    A?\n    </think>\n    B', 'A?', 'B'],
  [
    'an answer about tags',
    '<think>A?</think>Write <think> and then </think>.\n</think>\nThat is all.',
    'A?',
    'Write <think> and then </think>.\n</think>\nThat is all.',
  ],
];

test.each(APART)('thoughts are taken out: %s', (_, reply, thoughts, answer) => {
  const read = readThoughts(reply);
  expect(read).toMatchObject({ answer, isOpen: false });
  expect(read.thoughts.trim()).toBe(thoughts);
});

test.each([
  ['without a closing tag', '<think>\nFirst guess: the answer is B. But'],
  ['in capitals', '<THOUGHT>It is B.'],
  ['of Magistral', '[THINK]It is B.'],
  ['of Kimi', '◁think▷It is B.'],
  ['of Seed', '<seed:think>It is B.'],
  ['of gpt-oss', '<|channel|>analysis<|message|>It is B.'],
  ['of gpt-oss that end', '<|channel|>analysis<|message|>It is B.<|end|>'],
  ['in a second block', '<think>A?</think><think>It is B.'],
  ['that only quote the closing tag', '<think>They ask about "</think>", so'],
])('thoughts %s are no answer', (_, reply) => {
  expect(readThoughts(reply).answer).toBe('');
});

test.each([
  'The <think> tag opens a block and the </think> tag closes it.',
  'The </think> tag closes the block.',
  'It is closed by </think>',
  'It is closed by </think>.',
  'First comes <think>, then the thoughts, then </think>, then the answer.',
  '</think> is the tag that closes a block.',
  'Use `</think>` to close it.',
  'Use `a </think> b` to close it.',
  'Use "</think>" to close it.',
  'Write (</think>) at the end.',
  'Write **</think>** at the end.',
  'Like so:\n```xml\n<think>\nThoughts\n</think>\nAnswer\n```\nDone.',
  'Like so:\n```\nThoughts\n</think>\nAnswer\n```',
  'Like so:\n<think>\nThoughts\n</think>\nAnswer',
  'Like so:\n\n    </think>\n\nDone.',
  '```\n<think>x</think>\n```',
  '`<think>` opens a block.',
  '用 </think> 标签结束。',
  '用</think>标签结束。',
  '[THINKING] is a word, and [think](https://example.org) a link.',
  '[think] twice',
  '<thinker>x</thinker>',
  'if a < b and c > d then think',
  '  leading blanks',
  ' \n ',
  '',
  'A?<|end|>',
])('%j has no thoughts', (reply) => {
  expect(readThoughts(reply)).toEqual({ thoughts: '', answer: reply, isOpen: false, isUnopened: false });
});

const PARTS = [
  ...['<think>', '</think>', '<think', '>', '</', '<thinking>', '</thinking>', '<think/>', '<think a="b">'],
  ...['[THINK]', '[/THINK]', '[', '◁think▷', '◁/think▷', '<|channel>thought\n', '<channel|>'],
  ...[
    '<|start|>assistant',
    '<|channel|>analysis',
    '<|channel|>final',
    '<|message|>',
    '<|end|>',
    '<|return|>',
  ],
  ...['\n', ' ', '`', '```\n', '"', '.', ', ', 'a', 'B', ' so it is', '答', '😀', '\r\n', '    '],
];
const texts = fc.array(fc.oneof(fc.constantFrom(...PARTS), fc.string({ unit: 'binary' })), { maxLength: 24 });

/** Cuts a text where the numbers say. */
function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const length of lengths) {
    pieces.push(text.slice(from, from + length));
    from += length;
  }
  return [...pieces, text.slice(from)];
}

function joined(pieces: readonly Piece[]): { thoughts: string; answer: string } {
  let told = { thoughts: '', answer: '' };
  for (const { kind, text, isAnew } of pieces) {
    if (isAnew) told = { thoughts: '', answer: '' };
    told[kind] += text;
  }
  return told;
}

test('a reply is read alike wherever it is cut', () => {
  fc.assert(
    fc.property(texts, fc.array(fc.integer({ min: 0, max: 9 })), (parts, lengths) => {
      const text = parts.join('');
      const reader = new ThoughtReader();
      const pieces = cut(text, lengths).flatMap((piece) => reader.push(piece));
      const { thoughts, answer, isOpen } = readThoughts(text);
      expect(joined([...pieces, ...reader.end()])).toEqual({ thoughts, answer });
      expect(reader.isOpen).toBe(isOpen);
    }),
    { numRuns: 5000 },
  );
});

test('nothing but tags is lost', () => {
  fc.assert(
    fc.property(texts, (parts) => {
      const { thoughts, answer } = readThoughts(parts.join(''));
      expect(isWithoutTags(parts.join(''), thoughts + answer)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});

/** Whether a text becomes another one where some of its tags are left out. */
function isWithoutTags(text: string, without: string): boolean {
  const reached = Array.from({ length: text.length + 1 }, () => new Set<number>());
  reached[0]?.add(0);
  for (const [at, here] of reached.slice(0, -1).entries()) {
    const length = tagLengthAt(text, at);
    for (const of of here) {
      if (text[at] === without[of]) reached[at + 1]?.add(of + 1);
      reached[at + length]?.add(of);
    }
  }
  return reached[text.length]?.has(without.length) === true;
}

function tagLengthAt(text: string, at: number): number {
  EACH_TAG.lastIndex = at;
  const tag = EACH_TAG.exec(text);
  return tag?.index === at ? tag[0].length : 0;
}
