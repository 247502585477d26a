import type { ListName, Plan, PlanContext, PlanErrorCode } from '../../src';

/** The pool that the replies below were written for. */
export const CONTEXT: PlanContext = { workers: ['gpt', 'sonnet', 'gemini', 'small'], maxSteps: 5, round: 0 };

/** A reply as models write it, with its plan or the error for it, and the round if it is not the first. */
type Reply = readonly [
  name: string,
  text: string,
  expected: Plan | { readonly code: PlanErrorCode; readonly list: ListName | null },
  round?: number,
];

function plan(
  ...steps: readonly (readonly [worker: string, subtask: string, sees?: readonly number[]])[]
): Plan {
  return { steps: steps.map(([worker, subtask, sees = []]) => ({ worker, subtask, sees })) };
}

function error(code: PlanErrorCode, list: ListName | null = null): Reply[2] {
  return { code, list };
}

const TWO = plan(['gemini', 'Find it', []], ['gpt', 'Check it', [0]]);

const LISTS = String.raw`model_id = [2, 0]
subtasks = ["Find it", "Check it"]
access_list = [[], ["all"]]`;

const one = (subtask: string): string => `model_id = [0]\nsubtasks = [${subtask}]\naccess_list = [[]]`;

/** Returns replies, by name, that all hold the plan of two steps. */
function asTwo(texts: Readonly<Record<string, string>>): Reply[] {
  return Object.entries(texts).map(([name, text]) => [name, text, TWO]);
}

/** Returns replies of one step, by name, with its subtask as written and as read. */
function asOne(subtasks: Readonly<Record<string, readonly [written: string, read: string]>>): Reply[] {
  return Object.entries(subtasks).map(([name, [written, read]]) => [name, one(written), plan(['gpt', read])]);
}

/** Replies with different text and formats around the lists. */
const dress: Reply[] = [
  ...asTwo({
    'the three lists as asked': `First find it, then check it.\n${LISTS}`,
    'a Python fence': `Sure!\n\`\`\`python\n${LISTS}\n\`\`\`\nGood luck.`,
    'a fence that is never closed': `\`\`\`\n${LISTS}`,
    'inline code': LISTS.replace(/^.*$/gm, '`$&`'),
    'bullets before the labels': LISTS.replace(/^/gm, '- '),
    'numbers before the labels': LISTS.replace(/^/gm, '1. '),
    'bold labels and colons': LISTS.replace(/^(\w+) =/gm, '**$1:**'),
    'bold labels, colons outside': LISTS.replace(/^(\w+) =/gm, '* **$1**:'),
    'headings above the lists': LISTS.replace(/^(\w+) = /gm, '### $1\n'),
    'upper case labels': LISTS.replace(/^\w+/gm, (label) => label.toUpperCase()),
    'labels in plain English':
      'Model IDs: [2, 0]\nSubtasks: ["Find it", "Check it"]\nAccess list: [[], "all"]',
    'short aliases': 'model id = [2, 0]\nsubtask = ["Find it", "Check it"]\naccess = [[], ["all"]]',
    'a remark behind the subtasks': LISTS.replace('it"]', 'it"]  # two steps'),
    'other fields of JSON behind the subtasks':
      '{"model_id": [2, 0], "subtasks": ["Find it", "Check it"], "why": "x", "access_list": [[], [0]]}',
    'all on one line': LISTS.replaceAll('\n', '; '),
    'Windows line ends': LISTS.replaceAll('\n', '\r\n'),
    'another order of the lists': LISTS.split('\n').reverse().join('\n'),
    'lists over several lines with trailing commas':
      'model_id = [\n  2,\n  0,\n]\nsubtasks = [\n  "Find it",\n  "Check it",\n]\naccess_list = [\n  [],\n  ["all",],\n]',
    'comments of Python':
      'model_id = [2, # searches well\n 0] # careful\nsubtasks = ["Find it", # first\n "Check it" # then\n]\naccess_list = [[], ["all"]]',
    'comments of JavaScript':
      'model_id = [2, // gemini\n 0 // gpt\n]\nsubtasks = ["Find it", // "first"\n "Check it"] // end\naccess_list = [[], ["all"]]',
    'JSON with the three lists':
      '{"model_id": [2, 0], "subtasks": ["Find it", "Check it"], "access_list": [[], ["all"]]}',
    'fenced JSON of the three lists':
      '```json\n{\n  "model_id": [2, 0],\n  "subtasks": ["Find it", "Check it"],\n  "access_list": [[], [0]]\n}\n```',
    'JSON of our schema':
      '{"reasoning":"Find, then check.","steps":[{"worker":2,"subtask":"Find it","sees":"none"},{"worker":0,"subtask":"Check it","sees":"all"}]}',
    'JSON of our schema in prose, with index lists':
      'Here it is:\n```json\n{"steps": [{"worker": "gemini", "subtask": "Find it", "sees": []}, {"worker": "0", "subtask": "Check it", "sees": [0]}]}\n```',
    'an object of JavaScript':
      "{ steps: [{ worker: 2, subtask: 'Find it', sees: 'none' }, { worker: 'gpt', subtask: 'Check it', sees: 'all' }] }",
    'steps with the names of the lists':
      'steps = [{"model_id": 2, "subtask": "Find it", "access_list": []}, {"model_id": 0, "subtask": "Check it", "access_list": ["all"]}]',
    'bulleted lists':
      'model_id:\n- 2\n- 0\n\nsubtasks:\n- Find it\n- "Check it"\n\naccess_list:\n- []\n- ["all"]\n',
    'numbered lists':
      '**Model IDs**\n1. gemini\n2. gpt\n\n**Subtasks**\n1. Find it\n2. Check it\n\n**Access list**\n1. none\n2. all',
    'labelled lists under a bulleted heading': `The access list:\n${LISTS.replace(/^/gm, '- ')}`,
  }),
  [
    'a hash and slashes that are text',
    one('"Write C# for https://example.com // soon"'),
    plan(['gpt', 'Write C# for https://example.com // soon']),
  ],
  [
    'bulleted subtasks with commas and brackets',
    'model_id = [0]\nsubtasks:\n* Compare a, b [and c], "briefly" at first\naccess_list = [[]]',
    plan(['gpt', 'Compare a, b [and c], "briefly" at first']),
  ],
];

/** Replies with quotes. */
const quoting: Reply[] = [
  ...asTwo({
    'curly quotes': 'model_id = [2, 0]\nsubtasks = [“Find it”, “Check it”]\naccess_list = [[], [“all”]]',
    'single quotes': "model_id = [2, 0]\nsubtasks = ['Find it', 'Check it']\naccess_list = [[], ['all']]",
    'no quotes at all': 'model_id = [2, 0]\nsubtasks = [Find it, Check it]\naccess_list = [[], all]',
    'a comma forgotten between lines':
      'model_id = [2, 0]\nsubtasks = [\n"Find it"\n"Check it"\n]\naccess_list = [[] ["all"]]',
  }),
  [
    'apostrophes within single quotes',
    "model_id = [0, 1]\nsubtasks = ['Don't guess the user's age', 'List the dogs' names']\naccess_list = [[], []]",
    plan(['gpt', "Don't guess the user's age"], ['sonnet', "List the dogs' names"]),
  ],
  ...asOne({
    'curly quotes inside straight ones': ['"Explain “a”, “b” and ‘c’"', 'Explain “a”, “b” and ‘c’'],
    'escaped apostrophes within single quotes': [
      String.raw`'Don\'t guess, it\'s wrong'`,
      "Don't guess, it's wrong",
    ],
    'curly apostrophes within single curly quotes': ['‘Don’t guess’', 'Don’t guess'],
    'double quotes that were not escaped': ['"Explain "set", then stop"', 'Explain "set", then stop'],
    escapes: [
      String.raw`"Say \"hi\"\nthen\ttab \\ slash \/ \u00e9 \ud83d\ude00 \x41 \U0001F600"`,
      'Say "hi"\nthen\ttab \\ slash / é 😀 A 😀',
    ],
    'LaTeX that was not escaped': [
      String.raw`"Simplify \(\frac{1}{2}\) and \beta, \alpha"`,
      String.raw`Simplify \(\frac{1}{2}\) and \beta, \alpha`,
    ],
    'numbers of characters that do not exist': [
      String.raw`"Keep \U00110000 and \u12 and \xg"`,
      String.raw`Keep \U00110000 and \u12 and \xg`,
    ],
    'a raw line break': ['"First\nsecond"', 'First\nsecond'],
    'triple quotes': ['"""Write "a", "b"\nand "c"."""', 'Write "a", "b"\nand "c".'],
    'brackets and labels within quotes': [
      '"Sort [3, 1, 2] and explain subtasks = [\\"x\\"]"',
      'Sort [3, 1, 2] and explain subtasks = ["x"]',
    ],
    'a closing tag within quotes': ['"Explain what </think> means"', 'Explain what </think> means'],
    'an empty subtask': ['""', ''],
  }),
];

/** Replies that hold several plans, of which one counts. */
const choosing: Reply[] = [
  ...asTwo({
    'a reasoning block': `<think>\nMaybe model_id = [0, 0]?\n</think>\n${LISTS}`,
    'a whole draft in a reasoning block': `<think>\n${one('"Draft"')}\n</think>\n${LISTS}`,
    'a draft in the thoughts of Magistral': `[THINK]${one('"Draft"')}[/THINK]${LISTS}`,
    'a draft in the thoughts of Kimi': `◁think▷${one('"Draft"')}◁/think▷${LISTS}`,
    'a draft in the thoughts of Seed': `<seed:think>${one('"Draft"')}</seed:think>${LISTS}`,
    'a draft in a thought': `<thought>${one('"Draft"')}</thought>\n${LISTS}`,
    'a draft in the analysis of gpt-oss': `<|channel|>analysis<|message|>${one('"Draft"')}<|end|><|start|>assistant<|channel|>final<|message|>${LISTS}<|return|>`,
    'reasoning whose opening tag the chat template wrote': `${one('"Draft"')}\nNo, two steps.</think>\n${LISTS}`,
    'an example quoted before the plan': `The format is:\n${one('"Example"')}\n\nMine:\n${LISTS}`,
    'a broken draft before the plan': `Start: model_id = [0, 1\n${LISTS}`,
    'a list mentioned before the plan': `With access_list = [] nobody sees a thing, so:\n${LISTS}`,
    'a list mentioned after the plan': `${LISTS}\nHere model_id = [2, 0] begins with the best searcher.`,
    'explanations in bullets after the plan': `${LISTS}\n\nSubtasks:\n- the first finds\n- the second checks\n\nAccess:\n- none\n- all`,
    'the labels as words of the prose': `I choose model ids and subtasks, then access.\n${LISTS}`,
  }),
  [
    'a draft behind which only a closing tag comes',
    `${LISTS}\n</think>\nDone.`,
    error('missing_list', 'model_id'),
  ],
  [
    'an example, then a plan cut off inside a list',
    `${one('"Example"')}\n\nMine:\nmodel_id = [2, 0]\nsubtasks = ["Find`,
    error('unclosed_list', 'subtasks'),
  ],
  [
    'an example, then a plan cut off between lists',
    `${one('"Example"')}\n\nMine:\nmodel_id = [2, 0]\nsubtasks = ["Find it", "Check it"]\n`,
    error('missing_list', 'access_list'),
  ],
  ...[
    ...[
      '<think>',
      '<THINKING>',
      '<thought>',
      '<think type="deep">',
      '<seed:think>',
      '<reasoning>',
      '[THINK]',
    ],
    ...['◁think▷', '<|channel|>analysis<|message|>', '<|start|>assistant<|channel|>commentary<|message|>'],
    ...['<|channel>thought', '<think></think><think>', 'Sure.\n<think>'],
  ].map((tag): Reply => [
    `reasoning after ${tag} that never ends`,
    `${tag}\n${LISTS}\nBut wait, perhaps`,
    error('unclosed_thinking'),
  ]),
];

/** Replies with unusual entries. */
const entries: Reply[] = [
  ...asTwo({
    'ids as digit strings': LISTS.replace('[2, 0]', '["2", "0"]'),
    'workers by name': LISTS.replace('[2, 0]', '["gemini", "gpt"]'),
    'workers by name without quotes': LISTS.replace('[2, 0]', '[gemini, gpt]'),
    '"all" without its brackets': LISTS.replace('["all"]', '"all"'),
    '"all" among numbers': LISTS.replace('["all"]', '[0, "ALL"]'),
    '"all" for every step': LISTS.replace('[[], ["all"]]', '"all"'),
    '"all" on the first step sees nothing': LISTS.replace('[[],', '[["all"],'),
    'none as an access entry': LISTS.replace('[[],', '[None,'),
  }),
  [
    'numbers of steps, repeated and unsorted',
    'model_id = [0, 1, 2]\nsubtasks = ["a", "b", "c"]\naccess_list = [[], [], [1, 0, "1"]]',
    plan(['gpt', 'a'], ['sonnet', 'b'], ['gemini', 'c', [0, 1]]),
  ],
  [
    'five steps',
    'model_id = [3, 3, 3, 3, 3]\nsubtasks = ["a", "b", "c", "d", "e"]\naccess_list = [[], [], [], [], ["all"]]',
    plan(['small', 'a'], ['small', 'b'], ['small', 'c'], ['small', 'd'], ['small', 'e', [0, 1, 2, 3]]),
  ],
  [
    'three empty lists in a later round',
    'Fine as it is.\nmodel_id = []\nsubtasks = []\naccess_list = []',
    plan(),
    1,
  ],
  ['no steps by schema in a later round', '{"reasoning":"","steps":[]}', plan(), 1],
  [
    'three empty lists in the first round',
    'model_id = []\nsubtasks = []\naccess_list = []',
    error('nothing_to_accept'),
  ],
  ['no steps by schema in the first round', '{"steps": []}', error('nothing_to_accept')],
];

/** Replies without a valid plan. */
const refused: Reply[] = [
  ['nothing', '', error('missing_list', 'model_id')],
  ['an answer instead of a plan', 'The capital of France is Paris.', error('missing_list', 'model_id')],
  ['a refusal', 'I cannot help with subtasks like this.', error('missing_list', 'model_id')],
  ['cut off in the first list', 'model_id = [2,', error('unclosed_list', 'model_id')],
  ['cut off after the first list', 'model_id = [2, 0]\n', error('missing_list', 'subtasks')],
  [
    'cut off in a subtask',
    'model_id = [2, 0]\nsubtasks = ["Find it", "Che',
    error('unclosed_list', 'subtasks'),
  ],
  ['cut off in the access list', LISTS.slice(0, -3), error('unclosed_list', 'access_list')],
  [
    'JSON cut off in a step',
    '{"steps":[{"worker":2,"subtask":"Find it","sees":"none"},{"worker":0,"subt',
    error('unclosed_list'),
  ],
  ['a bracket that another list overruns', LISTS.replace('0]', '0'), error('unclosed_list', 'model_id')],
  ...Object.entries({
    'text behind an inner quote and a bracket': 'Report d["key"] and nothing else',
    'a quote behind an inner quote and a bracket': 'Report d["key"]',
    'a comma behind an inner quote and a bracket': 'Report d["key"], then stop',
    'two inner indices': 'Report d["a"]["b"] now',
  }).flatMap(([name, subtask]): Reply[] => [
    [name, LISTS.replace('Check it', subtask), error('bad_shape', 'subtasks')],
    [
      `${name}, in JSON`,
      `{"model_id": [2, 0], "subtasks": ["Find it", "${subtask}"], "access_list": [[], [0]]}`,
      error('bad_shape', 'subtasks'),
    ],
  ]),
  [
    'text behind an inner single quote and a bracket',
    LISTS.replace('"Check it"', "'Report d['key'] and nothing else'"),
    error('bad_shape', 'subtasks'),
  ],
  ['a list left out', LISTS.split('\n').slice(0, 2).join('\n'), error('missing_list', 'access_list')],
  ['fewer subtasks', LISTS.replace(', "Check it"', ''), error('unequal_lengths')],
  ['one access entry for two steps', LISTS.replace('[[], ["all"]]', '[["all"]]'), error('unequal_lengths')],
  ['a step without a subtask', '{"steps":[{"worker":0,"sees":"none"}]}', error('missing_list', 'subtasks')],
  ['a step that is no object inside', '{"steps":[{"worker"}]}', error('bad_shape')],
  [
    'six steps',
    'model_id = [0, 0, 0, 0, 0, 0]\nsubtasks = ["a", "b", "c", "d", "e", "f"]\naccess_list = [[], [], [], [], [], []]',
    error('too_many_steps'),
  ],
  [
    'ten thousand steps',
    `model_id = [${'0,'.repeat(10_000)}]\nsubtasks = [${'"a",'.repeat(10_000)}]\naccess_list = [${'[],'.repeat(10_000)}]`,
    error('too_many_steps'),
  ],
  ...Object.entries({
    'an ordinal beyond the pool': '[2, 4]',
    'a negative ordinal': '[2, -1]',
    'a fraction': '[2, 0.5]',
    'a nested id': '[2, [0]]',
    'a worker nobody has': '["gpt-9", 0]',
    'a path as a worker': '["../../etc/passwd", 0]',
    'a URL as a worker': '["https://example.com/v1", 0]',
    'a name every object inherits': '["__proto__", 0]',
  }).map(([name, ids]): Reply => [name, LISTS.replace('[2, 0]', ids), error('unknown_worker', 'model_id')]),
  ['a list as a subtask', LISTS.replace('"Find it"', '["Find it"]'), error('bad_subtask', 'subtasks')],
  ['a subtask of 8 KiB', one(`"${'é'.repeat(4096)}"`), plan(['gpt', 'é'.repeat(4096)])],
  ['a subtask of more than 8 KiB', one(`"${'é'.repeat(4096)}!"`), error('subtask_too_long', 'subtasks')],
  ['a bare number as access entry', LISTS.replace('["all"]', '0'), error('bad_access', 'access_list')],
  ['a word in an access entry', LISTS.replace('"all"', '"previous"'), error('bad_access', 'access_list')],
  ['an access entry nested twice', LISTS.replace('["all"]', '[[0]]'), error('bad_access', 'access_list')],
  [
    'an object as access entry',
    LISTS.replace('["all"]', '{"all": true}'),
    error('bad_access', 'access_list'),
  ],
  ['a step that sees itself', LISTS.replace('["all"]', '[1]'), error('forward_reference', 'access_list')],
  ['a step that sees a later one', LISTS.replace('[[],', '[[1],'), error('forward_reference', 'access_list')],
  [
    'a step that sees one that is not there',
    LISTS.replace('["all"]', '[7]'),
    error('forward_reference', 'access_list'),
  ],
  ['brackets without end', `model_id = ${'['.repeat(1000)}`, error('nested_too_deep', 'model_id')],
];

export const REPLIES: readonly Reply[] = [...dress, ...quoting, ...choosing, ...entries, ...refused];
