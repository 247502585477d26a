import { readPage } from '../newcomer/pages';
import { actionsIn } from './actions';

const rows = [...readPage('docs/cloud.md').matchAll(/^\| `([\w-]+)` .*\| +(\d+) \|$/gm)].map(
  ([, name = '', actions]) => [name, Number(actions)] as const,
);

test('docs/cloud.md counts several kinds of runs', () => {
  expect(rows.length).toBeGreaterThan(5);
});

test.each(rows)('the Actions of a run that is %s are those that docs/cloud.md says: %i', (name, actions) => {
  expect(actionsIn(name)).toBe(actions);
});
