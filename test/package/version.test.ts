import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { PAGES, readPage, ROOT } from '../newcomer/pages';
import { EXAMPLES } from './project';

const packageSchema = z.object({
  version: z.string().optional(),
  dependencies: z.record(z.string(), z.string()),
});

function readPackage(...path: string[]): z.output<typeof packageSchema> {
  return packageSchema.parse(JSON.parse(readFileSync(join(ROOT, ...path, 'package.json'), 'utf8')));
}

const { version } = readPackage();

test('the npm package and the Python trainer have the same version', () => {
  const project = readFileSync(join(ROOT, 'trainer', 'pyproject.toml'), 'utf8');
  expect(/^version = "(.+)"$/m.exec(project)?.[1]).toBe(version);
});

test.each(EXAMPLES)('the example %s depends on this version', (example) => {
  expect(readPackage('examples', example).dependencies['temporal-conductor']).toBe(`^${version}`);
});

test.each(PAGES)('%s names only packed files of this version', (page) => {
  const named = [...readPage(page).matchAll(/temporal[-_]conductor(?:_trainer)?-(\d+\.\d+\.\d+)/g)];
  expect(named.map(([, found]) => found).filter((found) => found !== version)).toEqual([]);
});
