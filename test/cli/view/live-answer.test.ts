import type { LiveEvent, SolveResult } from '../../../src';
import { LiveAnswer } from '../../../src/cli/kit/view/live-answer';
import { sampleTrace } from '../../trace/sample-trace';

/** Text written to stdout, a pipe, and to stderr. */
let [stdout, stderr] = ['', ''];
beforeEach(() => {
  [stdout, stderr] = ['', ''];
  const take =
    (keep: (text: string) => void) =>
    (text: unknown, done?: unknown): boolean => {
      keep(String(text));
      if (typeof done === 'function') (done as () => void)();
      return true;
    };
  jest.spyOn(process.stdout, 'write').mockImplementation(take((text) => (stdout += text)));
  jest.spyOn(process.stderr, 'write').mockImplementation(take((text) => (stderr += text)));
});
afterEach(() => {
  jest.restoreAllMocks();
});

const TRACE: SolveResult = sampleTrace();
const PLACE = { childId: null, round: 0, step: 2, attempt: 1, cursor: '' };
const text = (delta: string, place: object = {}): LiveEvent => ({
  ...{ kind: 'text', ...PLACE, offset: 0, delta },
  ...place,
});
const RESTARTED: LiveEvent = { kind: 'restarted', ...PLACE };
const ended = (answer: string | null): LiveEvent => ({
  ...{
    kind: 'ended',
    status: 'completed',
    answer,
    degraded: false,
    stoppedBy: null,
    error: null,
    cursor: '',
  },
});

/** Returns what is printed for these events; a `printed` entry is what must be there at that point. */
function print(...events: readonly (LiveEvent | { readonly printed: string })[]): string {
  const answer = new LiveAnswer(() => undefined, 'ask again');
  for (const event of events) {
    if ('printed' in event) expect(stdout).toBe(event.printed);
    else answer.take(event, TRACE);
  }
  answer.close();
  return stdout;
}

test('prints the text of the last step at once, and adds a missing line end', () => {
  expect(print(text('Pa'), { printed: 'Pa' }, text('ris.'), ended('Paris.'))).toBe('Paris.\n');
  stdout = '';
  expect(print(text('Paris.\n'), ended('Paris.\n'))).toBe('Paris.\n');
});

test('prints no text early of another step, of a child run, or of an answer that a review may change', () => {
  const others = [{ step: 1 }, { childId: 'solve-1-r0s3' }, { provisional: true }];
  expect(print(...others.map((place) => text('No.', place)), { printed: '' }, ended('Yes.'))).toBe('Yes.\n');
});

test('continues silently if another attempt continues the printed text', () => {
  const again = [RESTARTED, text('Par'), { printed: 'Paris, ' }, text('is, of course')];
  expect(print(text('Paris, '), ...again, ended('Paris, of course.'))).toBe('Paris, of course.\n');
  expect(stderr).toBe('');
});

test('reports an attempt that begins anew, and prints the whole answer at the end', () => {
  const again = [RESTARTED, text('Paris'), text(', I think'), { printed: 'Lyon' }];
  expect(print(text('Lyon'), ...again, ended('Paris, I think.'))).toBe('Lyon\nParis, I think.\n');
  expect(stderr).toBe('The answer was restarted; its full text is printed at the end.\n');
});

test('does not print white space alone, which is no answer of the last step', () => {
  expect(print(text(' \n'), { printed: '' }, ended('Of an earlier step.'))).toBe('Of an earlier step.\n');
});

test('ends the line of a run without an answer', () => {
  expect(print(text('Par'), ended(null))).toBe('Par\n');
});

test('prints nothing while a person is asked', async () => {
  const answer = new LiveAnswer(() => undefined, 'ask again');
  await answer.whilePaused(() => {
    answer.take(text('Paris'), TRACE);
    expect(stdout).toBe('');
    return Promise.resolve();
  });
  expect(stdout).toBe('Paris');
});
