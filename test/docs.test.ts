import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { buildProgram } from '../src/cli/program';
import { MAPS, PAGES, readPage, ROOT } from './newcomer/pages';
import { missingNames, missingPaths } from './newcomer/paths';

const outsideFences = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '');

test.each([...PAGES, ...MAPS])(
  '%s: every link to a file leads to a file, and every anchor to a heading',
  (page) => {
    for (const [, target = ''] of outsideFences(readPage(page)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = '', anchor] = target.split('#');
      const linked = path === '' ? page : join(dirname(page), path);
      expect({ target, exists: existsSync(join(ROOT, linked)) }).toEqual({ target, exists: true });
      if (anchor !== undefined) expect(anchorsOf(linked)).toContain(anchor);
    }
  },
);

/** Returns the anchors that GitHub makes of a page's headings. */
function anchorsOf(page: string): string[] {
  const headings = [...outsideFences(readPage(page)).matchAll(/^#{1,6} (.+)$/gm)];
  return headings.map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replace(/\s/g, '-'),
  );
}

test.each(MAPS)('%s: every path that it names exists', (page) => {
  expect(missingPaths(page)).toEqual([]);
});

test.each(MAPS)('%s: every name of code that it has exists', (page) => {
  expect(missingNames(page)).toEqual([]);
});

test('the README of each area names the doors that its list has', () => {
  const [, lists = ''] = /const doors = \{([^]*?)\n\};/.exec(readPage('.dependency-cruiser.cjs')) ?? [];
  const areas = [...lists.matchAll(/(\w+): \[([^\]]*)\]/g)];
  expect(areas).not.toEqual([]);
  for (const [, area = '', doors = ''] of areas) {
    const readme = readPage(`src/${area}/README.md`);
    for (const [, door = ''] of doors.matchAll(/'([^']+)'/g)) expect(readme).toContain(`\`${door}.ts\``);
  }
});

test.each(MAPS.filter((page) => basename(page) === 'README.md'))('%s has at most 12 lines', (page) => {
  expect(readPage(page).trimEnd().split('\n').length).toBeLessThanOrEqual(12);
});

test('the map of the docs lists every page', () => {
  const map = readPage('docs/README.md');
  for (const page of PAGES.filter((each) => each.startsWith('docs/') && each !== 'docs/README.md')) {
    expect(map).toContain(`(${relative('docs', page)})`);
  }
});

test('the README has at most 1200 words', () => {
  expect(readPage('README.md').split(/\s+/).length).toBeLessThanOrEqual(1200);
});

const commandLines = PAGES.flatMap((page) =>
  [...readPage(page).matchAll(/^(?:\$ )?(?:npx )?temporal-conductor (.*)$/gm)].map(
    ([, line = '']) => [page, line.replace(/\s+#.*$/, '')] as const,
  ),
);

test.each(commandLines)('%s: temporal-conductor %s', (_, line) => {
  const program = buildProgram();
  const words = line.split(/\s+/);
  let command = program;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    command = next;
  }
  expect(command.name()).not.toBe(program.name());
  const known = command.options.flatMap(({ long, short }) => [long, short]);
  for (const option of words.filter((word) => /^--?[a-z]/.test(word))) expect(known).toContain(option);
});

test.each(['docs/failures.md', 'docs/security.md'])('%s: every test that it names exists', (page) => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' });
  const python = readdirSync(join(ROOT, 'trainer/tests')).map((name) => `trainer/tests/${name}`);
  const all = [...files, ...python, 'trainer/tests/'].map((path) => path.replaceAll('\\', '/'));
  for (const row of readPage(page).matchAll(/^\|.*\| ([^|]*) \|$/gm)) {
    for (const [, name = ''] of (row[1] ?? '').matchAll(/`([\w/-]+)`/g)) {
      expect({ name, exists: all.some((path) => path.includes(name)) }).toEqual({ name, exists: true });
    }
  }
});
