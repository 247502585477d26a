import type { ListName, Plan, PlanContext, PlanErrorCode } from '../../src';

/** The pool that the replies below were written for. */
export const CONTEXT: PlanContext = { workers: ['gpt', 'sonnet', 'gemini', 'small'], maxSteps: 5, round: 0 };

/** A reply as models write them, with the plan that is in it or why there is none. */
export interface Reply {
  readonly name: string;
  readonly text: string;
  readonly round?: number;
  readonly expected: Plan | { readonly code: PlanErrorCode; readonly list: ListName | null };
}

type Seen = readonly number[];

function plan(...steps: readonly (readonly [worker: string, subtask: string, sees?: Seen])[]): Plan {
  return { steps: steps.map(([worker, subtask, sees = []]) => ({ worker, subtask, sees })) };
}

function error(code: PlanErrorCode, list: ListName | null = null): Reply['expected'] {
  return { code, list };
}

const TWO = plan(['gemini', 'Find it', []], ['gpt', 'Check it', [0]]);

const LISTS = String.raw`model_id = [2, 0]
subtasks = ["Find it", "Check it"]
access_list = [[], ["all"]]`;

const one = (subtask: string): string => `model_id = [0]\nsubtasks = [${subtask}]\naccess_list = [[]]`;

/** The dress around the lists. */
const dress: Reply[] = [
  { name: 'the three lists as asked', text: `First find it, then check it.\n${LISTS}`, expected: TWO },
  { name: 'a Python fence', text: `Sure!\n\`\`\`python\n${LISTS}\n\`\`\`\nGood luck.`, expected: TWO },
  { name: 'a fence that is never closed', text: `\`\`\`\n${LISTS}`, expected: TWO },
  { name: 'inline code', text: LISTS.replace(/^.*$/gm, '`$&`'), expected: TWO },
  { name: 'bullets before the labels', text: LISTS.replace(/^/gm, '- '), expected: TWO },
  { name: 'numbers before the labels', text: LISTS.replace(/^/gm, '1. '), expected: TWO },
  { name: 'bold labels and colons', text: LISTS.replace(/^(\w+) =/gm, '**$1:**'), expected: TWO },
  { name: 'bold labels, colons outside', text: LISTS.replace(/^(\w+) =/gm, '* **$1**:'), expected: TWO },
  { name: 'headings above the lists', text: LISTS.replace(/^(\w+) = /gm, '### $1\n'), expected: TWO },
  { name: 'upper case labels', text: LISTS.replace(/^\w+/gm, (label) => label.toUpperCase()), expected: TWO },
  {
    name: 'labels in plain English',
    text: 'Model IDs: [2, 0]\nSubtasks: ["Find it", "Check it"]\nAccess list: [[], "all"]',
    expected: TWO,
  },
  {
    name: 'short aliases',
    text: 'model id = [2, 0]\nsubtask = ["Find it", "Check it"]\naccess = [[], ["all"]]',
    expected: TWO,
  },
  { name: 'all on one line', text: LISTS.replaceAll('\n', '; '), expected: TWO },
  { name: 'Windows line ends', text: LISTS.replaceAll('\n', '\r\n'), expected: TWO },
  { name: 'another order of the lists', text: LISTS.split('\n').reverse().join('\n'), expected: TWO },
  {
    name: 'lists over several lines with trailing commas',
    text: 'model_id = [\n  2,\n  0,\n]\nsubtasks = [\n  "Find it",\n  "Check it",\n]\naccess_list = [\n  [],\n  ["all",],\n]',
    expected: TWO,
  },
  {
    name: 'comments of Python',
    text: 'model_id = [2, # searches well\n 0] # careful\nsubtasks = ["Find it", # first\n "Check it" # then\n]\naccess_list = [[], ["all"]]',
    expected: TWO,
  },
  {
    name: 'comments of JavaScript',
    text: 'model_id = [2, // gemini\n 0 // gpt\n]\nsubtasks = ["Find it", // "first"\n "Check it"] // end\naccess_list = [[], ["all"]]',
    expected: TWO,
  },
  {
    name: 'a hash and slashes that are text',
    text: one('"Write C# for https://example.com // soon"'),
    expected: plan(['gpt', 'Write C# for https://example.com // soon']),
  },
  {
    name: 'JSON with the three lists',
    text: '{"model_id": [2, 0], "subtasks": ["Find it", "Check it"], "access_list": [[], ["all"]]}',
    expected: TWO,
  },
  {
    name: 'fenced JSON of the three lists',
    text: '```json\n{\n  "model_id": [2, 0],\n  "subtasks": ["Find it", "Check it"],\n  "access_list": [[], [0]]\n}\n```',
    expected: TWO,
  },
  {
    name: 'JSON of our schema',
    text: '{"reasoning":"Find, then check.","steps":[{"worker":2,"subtask":"Find it","sees":"none"},{"worker":0,"subtask":"Check it","sees":"all"}]}',
    expected: TWO,
  },
  {
    name: 'JSON of our schema in prose, with index lists',
    text: 'Here it is:\n```json\n{"steps": [{"worker": "gemini", "subtask": "Find it", "sees": []}, {"worker": "0", "subtask": "Check it", "sees": [0]}]}\n```',
    expected: TWO,
  },
  {
    name: 'an object of JavaScript',
    text: "{ steps: [{ worker: 2, subtask: 'Find it', sees: 'none' }, { worker: 'gpt', subtask: 'Check it', sees: 'all' }] }",
    expected: TWO,
  },
  {
    name: 'steps with the names of the lists',
    text: 'steps = [{"model_id": 2, "subtask": "Find it", "access_list": []}, {"model_id": 0, "subtask": "Check it", "access_list": ["all"]}]',
    expected: TWO,
  },
  {
    name: 'bulleted lists',
    text: 'model_id:\n- 2\n- 0\n\nsubtasks:\n- Find it\n- "Check it"\n\naccess_list:\n- []\n- ["all"]\n',
    expected: TWO,
  },
  {
    name: 'numbered lists',
    text: '**Model IDs**\n1. gemini\n2. gpt\n\n**Subtasks**\n1. Find it\n2. Check it\n\n**Access list**\n1. none\n2. all',
    expected: TWO,
  },
  {
    name: 'bulleted subtasks with commas and brackets',
    text: 'model_id = [0]\nsubtasks:\n* Compare a, b [and c], "briefly" at first\naccess_list = [[]]',
    expected: plan(['gpt', 'Compare a, b [and c], "briefly" at first']),
  },
  {
    name: 'labelled lists under a bulleted heading',
    text: `The access list:\n${LISTS.replace(/^/gm, '- ')}`,
    expected: TWO,
  },
];

/** Replies with quotes. */
const quoting: Reply[] = [
  {
    name: 'curly quotes',
    text: 'model_id = [2, 0]\nsubtasks = [“Find it”, “Check it”]\naccess_list = [[], [“all”]]',
    expected: TWO,
  },
  {
    name: 'curly quotes inside straight ones',
    text: one('"Explain “a”, “b” and ‘c’"'),
    expected: plan(['gpt', 'Explain “a”, “b” and ‘c’']),
  },
  {
    name: 'single quotes',
    text: "model_id = [2, 0]\nsubtasks = ['Find it', 'Check it']\naccess_list = [[], ['all']]",
    expected: TWO,
  },
  {
    name: 'apostrophes within single quotes',
    text: "model_id = [0, 1]\nsubtasks = ['Don't guess the user's age', 'List the dogs' names']\naccess_list = [[], []]",
    expected: plan(['gpt', "Don't guess the user's age"], ['sonnet', "List the dogs' names"]),
  },
  {
    name: 'escaped apostrophes within single quotes',
    text: String.raw`model_id = [0]
subtasks = ['Don\'t guess, it\'s wrong']
access_list = [[]]`,
    expected: plan(['gpt', "Don't guess, it's wrong"]),
  },
  {
    name: 'curly apostrophes within single curly quotes',
    text: one('‘Don’t guess’'),
    expected: plan(['gpt', 'Don’t guess']),
  },
  {
    name: 'double quotes that were not escaped',
    text: one('"Explain the word "set", then stop"'),
    expected: plan(['gpt', 'Explain the word "set", then stop']),
  },
  {
    name: 'escapes',
    text: one(String.raw`"Say \"hi\"\nthen\ttab \\ slash \/ \u00e9 \ud83d\ude00 \x41 \U0001F600"`),
    expected: plan(['gpt', 'Say "hi"\nthen\ttab \\ slash / é 😀 A 😀']),
  },
  {
    name: 'LaTeX that was not escaped',
    text: one(String.raw`"Simplify \(\frac{1}{2}\) and \beta, \alpha"`),
    expected: plan(['gpt', String.raw`Simplify \(\frac{1}{2}\) and \beta, \alpha`]),
  },
  {
    name: 'numbers of characters that do not exist',
    text: one(String.raw`"Keep \U00110000 and \u12 and \xg"`),
    expected: plan(['gpt', String.raw`Keep \U00110000 and \u12 and \xg`]),
  },
  { name: 'a raw line break', text: one('"First\nsecond"'), expected: plan(['gpt', 'First\nsecond']) },
  {
    name: 'triple quotes',
    text: one('"""Write "a", "b"\nand "c"."""'),
    expected: plan(['gpt', 'Write "a", "b"\nand "c".']),
  },
  {
    name: 'brackets and labels within quotes',
    text: one('"Sort [3, 1, 2] and explain subtasks = [\\"x\\"]"'),
    expected: plan(['gpt', 'Sort [3, 1, 2] and explain subtasks = ["x"]']),
  },
  {
    name: 'a closing tag within quotes',
    text: one('"Explain what </think> means"'),
    expected: plan(['gpt', 'Explain what </think> means']),
  },
  {
    name: 'no quotes at all',
    text: 'model_id = [2, 0]\nsubtasks = [Find it, Check it]\naccess_list = [[], all]',
    expected: TWO,
  },
  {
    name: 'a comma forgotten between lines',
    text: 'model_id = [2, 0]\nsubtasks = [\n"Find it"\n"Check it"\n]\naccess_list = [[] ["all"]]',
    expected: TWO,
  },
  { name: 'an empty subtask', text: one('""'), expected: plan(['gpt', '']) },
];

/** Which of several plans counts. */
const choosing: Reply[] = [
  { name: 'a reasoning block', text: `<think>\nMaybe model_id = [0, 0]?\n</think>\n${LISTS}`, expected: TWO },
  {
    name: 'a whole draft in a reasoning block',
    text: `<think>\n${one('"Draft"')}\n</think>\n${LISTS}`,
    expected: TWO,
  },
  {
    name: 'reasoning whose opening tag the chat template wrote',
    text: `${one('"Draft"')}\nNo, two steps.</think>\n${LISTS}`,
    expected: TWO,
  },
  {
    name: 'a draft behind which only a closing tag comes',
    text: `${LISTS}\n</think>\nDone.`,
    expected: error('missing_list', 'model_id'),
  },
  {
    name: 'an example quoted before the plan',
    text: `The format is:\n${one('"Example"')}\n\nMine:\n${LISTS}`,
    expected: TWO,
  },
  { name: 'a broken draft before the plan', text: `Start: model_id = [0, 1\n${LISTS}`, expected: TWO },
  {
    name: 'a list mentioned before the plan',
    text: `With access_list = [] nobody sees a thing, so:\n${LISTS}`,
    expected: TWO,
  },
  {
    name: 'a list mentioned after the plan',
    text: `${LISTS}\nHere model_id = [2, 0] begins with the best searcher.`,
    expected: TWO,
  },
  {
    name: 'explanations in bullets after the plan',
    text: `${LISTS}\n\nSubtasks:\n- the first finds\n- the second checks\n\nAccess:\n- none\n- all`,
    expected: TWO,
  },
  {
    name: 'the labels as words of the prose',
    text: `I choose model ids and subtasks, then access.\n${LISTS}`,
    expected: TWO,
  },
  {
    name: 'an example, then a plan cut off inside a list',
    text: `${one('"Example"')}\n\nMine:\nmodel_id = [2, 0]\nsubtasks = ["Find`,
    expected: error('unclosed_list', 'subtasks'),
  },
  {
    name: 'an example, then a plan cut off between lists',
    text: `${one('"Example"')}\n\nMine:\nmodel_id = [2, 0]\nsubtasks = ["Find it", "Check it"]\n`,
    expected: error('missing_list', 'access_list'),
  },
  {
    name: 'reasoning that never ends',
    text: `<think>\n${LISTS}\nBut wait, perhaps`,
    expected: error('unclosed_thinking'),
  },
];

/** Replies with unusual entries. */
const entries: Reply[] = [
  { name: 'ids as digit strings', text: LISTS.replace('[2, 0]', '["2", "0"]'), expected: TWO },
  { name: 'workers by name', text: LISTS.replace('[2, 0]', '["gemini", "gpt"]'), expected: TWO },
  { name: 'workers by name without quotes', text: LISTS.replace('[2, 0]', '[gemini, gpt]'), expected: TWO },
  { name: '"all" without its brackets', text: LISTS.replace('["all"]', '"all"'), expected: TWO },
  { name: '"all" among numbers', text: LISTS.replace('["all"]', '[0, "ALL"]'), expected: TWO },
  { name: '"all" for every step', text: LISTS.replace('[[], ["all"]]', '"all"'), expected: TWO },
  { name: '"all" on the first step sees nothing', text: LISTS.replace('[[],', '[["all"],'), expected: TWO },
  { name: 'none as an access entry', text: LISTS.replace('[[],', '[None,'), expected: TWO },
  {
    name: 'numbers of steps, repeated and unsorted',
    text: 'model_id = [0, 1, 2]\nsubtasks = ["a", "b", "c"]\naccess_list = [[], [], [1, 0, "1"]]',
    expected: plan(['gpt', 'a'], ['sonnet', 'b'], ['gemini', 'c', [0, 1]]),
  },
  {
    name: 'five steps',
    text: 'model_id = [3, 3, 3, 3, 3]\nsubtasks = ["a", "b", "c", "d", "e"]\naccess_list = [[], [], [], [], ["all"]]',
    expected: plan(
      ['small', 'a'],
      ['small', 'b'],
      ['small', 'c'],
      ['small', 'd'],
      ['small', 'e', [0, 1, 2, 3]],
    ),
  },
  {
    name: 'three empty lists in a later round',
    text: 'Fine as it is.\nmodel_id = []\nsubtasks = []\naccess_list = []',
    round: 1,
    expected: plan(),
  },
  {
    name: 'no steps by schema in a later round',
    text: '{"reasoning":"","steps":[]}',
    round: 1,
    expected: plan(),
  },
  {
    name: 'three empty lists in the first round',
    text: 'model_id = []\nsubtasks = []\naccess_list = []',
    expected: error('nothing_to_accept'),
  },
  {
    name: 'no steps by schema in the first round',
    text: '{"steps": []}',
    expected: error('nothing_to_accept'),
  },
];

/** Replies that are no plan. */
const refused: Reply[] = [
  { name: 'nothing', text: '', expected: error('missing_list', 'model_id') },
  {
    name: 'an answer instead of a plan',
    text: 'The capital of France is Paris.',
    expected: error('missing_list', 'model_id'),
  },
  {
    name: 'a refusal',
    text: 'I cannot help with subtasks like this.',
    expected: error('missing_list', 'model_id'),
  },
  { name: 'cut off in the first list', text: 'model_id = [2,', expected: error('unclosed_list', 'model_id') },
  {
    name: 'cut off after the first list',
    text: 'model_id = [2, 0]\n',
    expected: error('missing_list', 'subtasks'),
  },
  {
    name: 'cut off in a subtask',
    text: 'model_id = [2, 0]\nsubtasks = ["Find it", "Che',
    expected: error('unclosed_list', 'subtasks'),
  },
  {
    name: 'cut off in the access list',
    text: LISTS.slice(0, -3),
    expected: error('unclosed_list', 'access_list'),
  },
  {
    name: 'JSON cut off in a step',
    text: '{"steps":[{"worker":2,"subtask":"Find it","sees":"none"},{"worker":0,"subt',
    expected: error('unclosed_list'),
  },
  {
    name: 'a bracket that another list overruns',
    text: LISTS.replace('0]', '0'),
    expected: error('unclosed_list', 'model_id'),
  },
  {
    name: 'a list left out',
    text: LISTS.split('\n').slice(0, 2).join('\n'),
    expected: error('missing_list', 'access_list'),
  },
  { name: 'fewer subtasks', text: LISTS.replace(', "Check it"', ''), expected: error('unequal_lengths') },
  {
    name: 'one access entry for two steps',
    text: LISTS.replace('[[], ["all"]]', '[["all"]]'),
    expected: error('unequal_lengths'),
  },
  {
    name: 'a step without a subtask',
    text: '{"steps":[{"worker":0,"sees":"none"}]}',
    expected: error('missing_list', 'subtasks'),
  },
  { name: 'a step that is no object inside', text: '{"steps":[{"worker"}]}', expected: error('bad_shape') },
  {
    name: 'six steps',
    text: 'model_id = [0, 0, 0, 0, 0, 0]\nsubtasks = ["a", "b", "c", "d", "e", "f"]\naccess_list = [[], [], [], [], [], []]',
    expected: error('too_many_steps'),
  },
  {
    name: 'ten thousand steps',
    text: `model_id = [${'0,'.repeat(10_000)}]\nsubtasks = [${'"a",'.repeat(10_000)}]\naccess_list = [${'[],'.repeat(10_000)}]`,
    expected: error('too_many_steps'),
  },
  {
    name: 'an ordinal beyond the pool',
    text: LISTS.replace('[2, 0]', '[2, 4]'),
    expected: error('unknown_worker', 'model_id'),
  },
  {
    name: 'a negative ordinal',
    text: LISTS.replace('[2, 0]', '[2, -1]'),
    expected: error('unknown_worker', 'model_id'),
  },
  {
    name: 'a fraction',
    text: LISTS.replace('[2, 0]', '[2, 0.5]'),
    expected: error('unknown_worker', 'model_id'),
  },
  {
    name: 'a nested id',
    text: LISTS.replace('[2, 0]', '[2, [0]]'),
    expected: error('unknown_worker', 'model_id'),
  },
  {
    name: 'a worker nobody has',
    text: LISTS.replace('[2, 0]', '["gpt-9", 0]'),
    expected: error('unknown_worker', 'model_id'),
  },
  {
    name: 'a path as a worker',
    text: LISTS.replace('[2, 0]', '["../../etc/passwd", 0]'),
    expected: error('unknown_worker', 'model_id'),
  },
  {
    name: 'a URL as a worker',
    text: LISTS.replace('[2, 0]', '["https://example.com/v1", 0]'),
    expected: error('unknown_worker', 'model_id'),
  },
  {
    name: 'a name every object inherits',
    text: LISTS.replace('[2, 0]', '["__proto__", 0]'),
    expected: error('unknown_worker', 'model_id'),
  },
  {
    name: 'a list as a subtask',
    text: LISTS.replace('"Find it"', '["Find it"]'),
    expected: error('bad_subtask', 'subtasks'),
  },
  {
    name: 'a subtask of 8 KiB',
    text: one(`"${'é'.repeat(4096)}"`),
    expected: plan(['gpt', 'é'.repeat(4096)]),
  },
  {
    name: 'a subtask of more than 8 KiB',
    text: one(`"${'é'.repeat(4096)}!"`),
    expected: error('subtask_too_long', 'subtasks'),
  },
  {
    name: 'a bare number as access entry',
    text: LISTS.replace('["all"]', '0'),
    expected: error('bad_access', 'access_list'),
  },
  {
    name: 'a word in an access entry',
    text: LISTS.replace('"all"', '"previous"'),
    expected: error('bad_access', 'access_list'),
  },
  {
    name: 'an access entry nested twice',
    text: LISTS.replace('["all"]', '[[0]]'),
    expected: error('bad_access', 'access_list'),
  },
  {
    name: 'an object as access entry',
    text: LISTS.replace('["all"]', '{"all": true}'),
    expected: error('bad_access', 'access_list'),
  },
  {
    name: 'a step that sees itself',
    text: LISTS.replace('["all"]', '[1]'),
    expected: error('forward_reference', 'access_list'),
  },
  {
    name: 'a step that sees a later one',
    text: LISTS.replace('[[],', '[[1],'),
    expected: error('forward_reference', 'access_list'),
  },
  {
    name: 'a step that sees one that is not there',
    text: LISTS.replace('["all"]', '[7]'),
    expected: error('forward_reference', 'access_list'),
  },
  {
    name: 'brackets without end',
    text: `model_id = ${'['.repeat(1000)}`,
    expected: error('nested_too_deep', 'model_id'),
  },
];

export const REPLIES: readonly Reply[] = [...dress, ...quoting, ...choosing, ...entries, ...refused];
