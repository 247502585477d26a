import { missingLine, readDeeds } from './blocks';

const fence = (info: string, ...lines: string[]): string => ['```' + info, ...lines, '```', ''].join('\n');

test('only the marked blocks are read, in the order of the page', () => {
  const page = [
    'Words.',
    fence('sh', 'rm -rf /'),
    fence('yaml newcomer', '# conductor.yaml: the pool', 'workers: []'),
    fence('sh newcomer', '# first', 'one \\', '  --two   # leave it running', 'three # exit code 3'),
    fence('text newcomer', 'Ready.', '…', '$ four', 'Done.'),
  ].join('\n');

  const command = { kind: 'command', stays: false, exitCode: 0, prints: [] };
  expect(readDeeds(page)).toEqual([
    { kind: 'file', name: 'conductor.yaml', content: '# conductor.yaml: the pool\nworkers: []\n' },
    { ...command, line: 'one --two', stays: true },
    { ...command, line: 'three', exitCode: 3, prints: ['Ready.'] },
    { ...command, line: 'four', prints: ['Done.'] },
  ]);
});

test.each([
  [
    'a file without a name',
    fence('ts newcomer', "import 'x';"),
    /first line must be a comment with its name/,
  ],
  ['words that no command prints', fence('text newcomer', 'Ready.'), /no command that could print "Ready\."/],
])('refuses %s', (_, page, reason) => {
  expect(() => readDeeds(page)).toThrow(reason);
});

test('expected lines match in order, with any number, and … matches anything', () => {
  const printed = 'Started (cached copy)\nnoise\n  Paris.  \ncompleted · 3 calls, 1,024 tokens · $0.0079\n';
  expect(missingLine(['Started (…)', 'Paris.', 'completed · 2 calls, 830 tokens · $0.01'], printed)).toBe(
    'completed · 2 calls, 830 tokens · $0.01',
  );
  expect(
    missingLine(['Started (…)', 'completed · 2 calls, 9,999 tokens · $0.0001'], printed),
  ).toBeUndefined();
  expect(missingLine(['Paris.', 'Started (…)'], printed)).toBe('Started (…)');
  expect(missingLine(['Rome.'], printed)).toBe('Rome.');
});
