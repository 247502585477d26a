import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

// Twenty small repairs: each a folder with a module of one function, its failing test, and a README that says what holds.

/** What a fault is about, and so which workers see it. */
export type Matter = 'arithmetic' | 'bounds' | 'text' | 'order';

export interface Fault {
  readonly name: string;
  readonly matter: Matter;
  readonly rule: string;
  readonly parameters: string;
  /** Body of the function: as it must be, as it is, and as one who misreads the fault would have it. */
  readonly right: string;
  readonly wrong: string;
  readonly misread: string;
  readonly given: string;
  readonly expected: string;
}

/** Returns the line of a fault's module that holds one of its bodies. */
export function lineOf({ name, parameters }: Fault, body: string): string {
  return `export const ${name} = (${parameters}) => ${body};`;
}

export const moduleOf = ({ name }: Pick<Fault, 'name'>): string => `${name}.mjs`;

/** Writes a fault's folder. @param body what its function returns */
export async function writeFault(fault: Fault, folder: string, body = fault.wrong): Promise<void> {
  const { name, rule, given, expected } = fault;
  await mkdir(folder, { recursive: true });
  const files = {
    [moduleOf(fault)]: lineOf(fault, body),
    [testOf(fault)]: [
      "import assert from 'node:assert/strict';",
      "import test from 'node:test';",
      `import { ${name} } from './${moduleOf(fault)}';`,
      `test('${name}', () => assert.deepEqual(${name}(${given}), ${expected}));`,
    ].join('\n'),
    'README.md': `# ${name}\n\n${rule} So \`${name}(${given})\` is \`${expected}\`.`,
  };
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), `${text}\n`);
}

const testOf = ({ name }: Fault): string => `${name}.test.mjs`;

/** Runs the test of a fault's folder. Returns what failed; null: it passes. */
export async function failureIn(fault: Fault, folder: string): Promise<string | null> {
  const args = ['--test', '--test-reporter=tap', testOf(fault)];
  try {
    await promisify(execFile)(process.execPath, args, { cwd: folder, env: { PATH: process.env.PATH } });
    return null;
  } catch (error) {
    const { stdout } = error as { readonly stdout: string };
    return stdout
      .split('\n')
      .filter((line) => /^\s*(not ok|expected:|actual:)/.test(line))
      .join('\n');
  }
}

type Bodies = Pick<Fault, 'right' | 'wrong' | 'misread'>;
type Example = Pick<Fault, 'given' | 'expected'>;

function faultOf(
  [matter, name, parameters]: readonly [Matter, string, string],
  rule: string,
  [right, wrong, misread]: readonly [string, string, string],
  [given, expected]: readonly [string, string],
): Fault {
  const bodies: Bodies = { right, wrong, misread };
  const example: Example = { given, expected };
  return { matter, name, parameters, rule, ...bodies, ...example };
}

export const FAULTS: readonly Fault[] = [
  faultOf(
    ['arithmetic', 'reduced', 'price, percent'],
    'A price less a discount in percent.',
    ['price * (1 - percent / 100)', 'price * (1 + percent / 100)', 'price - percent'],
    ['80, 25', '60'],
  ),
  faultOf(
    ['arithmetic', 'mean', 'values'],
    'The mean of numbers.',
    [
      'values.reduce((sum, value) => sum + value, 0) / values.length',
      'values.reduce((sum, value) => sum + value, 0) / 2',
      'values.reduce((sum, value) => sum + value, 0)',
    ],
    ['[2, 4, 9]', '5'],
  ),
  faultOf(
    ['arithmetic', 'fahrenheit', 'celsius'],
    'Degrees Celsius in Fahrenheit.',
    ['(celsius * 9) / 5 + 32', '(celsius * 5) / 9 + 32', '((celsius + 32) * 9) / 5'],
    ['100', '212'],
  ),
  faultOf(
    ['arithmetic', 'distance', 'a, b'],
    'The distance between two points.',
    [
      'Math.hypot(a[0] - b[0], a[1] - b[1])',
      'Math.hypot(a[0] + b[0], a[1] + b[1])',
      'Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1])',
    ],
    ['[1, 1], [4, 5]', '5'],
  ),
  faultOf(
    ['arithmetic', 'pages', 'items, size'],
    'How many pages of a size all items need.',
    ['Math.ceil(items / size)', 'Math.floor(items / size)', 'Math.ceil(items / size) + 1'],
    ['21, 10', '3'],
  ),
  faultOf(
    ['bounds', 'last', 'items'],
    'The last item.',
    ['items[items.length - 1]', 'items[items.length]', 'items[0]'],
    ["['a', 'b', 'c']", "'c'"],
  ),
  faultOf(
    ['bounds', 'within', 'value, low, high'],
    'Whether a value lies between two bounds, which belong to it.',
    ['value >= low && value <= high', 'value > low && value < high', 'value >= low && value < high'],
    ['5, 1, 5', 'true'],
  ),
  faultOf(
    ['bounds', 'range', 'from, to'],
    'All whole numbers from one to another, both of them included.',
    [
      'Array.from({ length: to - from + 1 }, (_, index) => from + index)',
      'Array.from({ length: to - from }, (_, index) => from + index)',
      'Array.from({ length: to }, (_, index) => from + index)',
    ],
    ['2, 4', '[2, 3, 4]'],
  ),
  faultOf(
    ['bounds', 'page', 'items, number, size'],
    'The items of a page; the first page has number 1.',
    [
      'items.slice((number - 1) * size, number * size)',
      'items.slice(number * size, (number + 1) * size)',
      'items.slice((number - 1) * size, number * size - 1)',
    ],
    ['[1, 2, 3, 4], 1, 2', '[1, 2]'],
  ),
  faultOf(
    ['bounds', 'clamped', 'value, most'],
    'A value, or the most that it may be.',
    ['Math.min(value, most)', 'Math.max(value, most)', 'Math.min(value, most - 1)'],
    ['7, 5', '5'],
  ),
  faultOf(
    ['text', 'titled', 'words'],
    'A text with its first letter in upper case.',
    [
      'words.slice(0, 1).toUpperCase() + words.slice(1)',
      'words.slice(0, 1).toUpperCase() + words',
      'words.toUpperCase()',
    ],
    ["'green tea'", "'Green tea'"],
  ),
  faultOf(
    ['text', 'slug', 'title'],
    'A title in lower case, with a hyphen for each gap.',
    [
      "title.trim().toLowerCase().replaceAll(/\\s+/g, '-')",
      "title.toLowerCase().replaceAll(' ', '-')",
      "title.trim().toLowerCase().replace(' ', '-')",
    ],
    ["' Green  tea leaves'", "'green-tea-leaves'"],
  ),
  faultOf(
    ['text', 'initials', 'name'],
    'The first letter of each word of a name.',
    [
      "name.split(' ').map((word) => word[0]).join('')",
      "name.split('').map((word) => word[0]).join('')",
      "name.split(' ').map((word) => word.at(-1)).join('')",
    ],
    ["'Ada Lovelace'", "'AL'"],
  ),
  faultOf(
    ['text', 'extension', 'file'],
    'What stands behind the last point of a file name.',
    ["file.split('.').at(-1)", "file.split('.')[1]", "file.split('.')[0]"],
    ["'logs.tar.gz'", "'gz'"],
  ),
  faultOf(
    ['text', 'padded', 'number, width'],
    'A number with zeros before it, up to a width.',
    [
      "String(number).padStart(width, '0')",
      "String(number).padEnd(width, '0')",
      "'0'.repeat(width) + number",
    ],
    ['7, 3', "'007'"],
  ),
  faultOf(
    ['order', 'sorted', 'values'],
    'Numbers, the smallest first.',
    ['[...values].sort((a, b) => a - b)', '[...values].sort()', '[...values].sort((a, b) => b - a)'],
    ['[10, 9, 2]', '[2, 9, 10]'],
  ),
  faultOf(
    ['order', 'newest', 'entries'],
    'The name of the newest entry; days are texts such as 2026-01-31.',
    [
      '[...entries].sort((a, b) => b.day.localeCompare(a.day))[0].name',
      '[...entries].sort((a, b) => a.day.localeCompare(b.day))[0].name',
      '[...entries].reverse()[0].name',
    ],
    ["[{ name: 'b', day: '2026-02-01' }, { name: 'a', day: '2026-01-31' }]", "'b'"],
  ),
  faultOf(
    ['order', 'ranked', 'scores'],
    'Names by their score, the highest first.',
    [
      'Object.keys(scores).sort((a, b) => scores[b] - scores[a])',
      'Object.keys(scores).sort((a, b) => scores[a] - scores[b])',
      'Object.keys(scores).sort()',
    ],
    ['{ b: 3, c: 2, a: 1 }', "['b', 'c', 'a']"],
  ),
  faultOf(
    ['order', 'merged', 'defaults, settings'],
    'Settings, with a default for each that is missing.',
    ['({ ...defaults, ...settings })', '({ ...settings, ...defaults })', '({ ...settings })'],
    ['{ a: 1, b: 2 }, { b: 3 }', '{ a: 1, b: 3 }'],
  ),
  faultOf(
    ['order', 'rotated', 'items, by'],
    'Items, turned to the left by some places.',
    [
      '[...items.slice(by), ...items.slice(0, by)]',
      '[...items.slice(0, by), ...items.slice(by)]',
      '[...items.slice(-by), ...items.slice(0, -by)]',
    ],
    ['[1, 2, 3, 4], 1', '[2, 3, 4, 1]'],
  ),
];
