import { execFileSync } from 'node:child_process';
import { unpickleText } from '../../../src/evaluation/data/code-sets';

const TEXTS = ['\'[{"é": 1}]\'', "'x' * 70000", "'abc'"];
const NO_TEXTS = ['Evil()', 'os.system', "['a']", "b'a'", '7'];
const PROTOCOLS = [2, 3, 4, 5];

/** Pickles each expression by each protocol, in one start of Python. */
const PICKLE_ALL = `
import base64, json, os, pickle, sys
class Evil:
 def __reduce__(self): return os.system, ("true",)
expressions, protocols = json.load(sys.stdin)
pickled = lambda each, protocol: base64.b64encode(pickle.dumps(eval(each), protocol)).decode()
json.dump({each: {p: pickled(each, p) for p in protocols} for each in expressions}, sys.stdout)`;

const input = JSON.stringify([[...TEXTS, ...NO_TEXTS], PROTOCOLS]);
const pickles = JSON.parse(
  execFileSync('python3', ['-c', PICKLE_ALL], { input, encoding: 'utf8' }),
) as Readonly<Record<string, Readonly<Record<number, string>>>>;

/** Returns a Python expression as Python pickles it. */
function pickled(expression: string, protocol: number): Buffer {
  return Buffer.from(pickles[expression]?.[protocol] ?? '', 'base64');
}

test.each(PROTOCOLS)('reads short and long texts of protocol %i', (protocol) => {
  expect(unpickleText(pickled('\'[{"é": 1}]\'', protocol))).toBe('[{"é": 1}]');
  expect(unpickleText(pickled("'x' * 70000", protocol))).toHaveLength(70_000);
});

test.each(NO_TEXTS)('%s is not a text, and nothing of it is executed', (expression) => {
  for (const protocol of PROTOCOLS) {
    expect(() => unpickleText(pickled(expression, protocol))).toThrow('this is no pickled text');
  }
});

test('a truncated pickle is refused', () => {
  const text = pickled("'abc'", 4);
  // Two more instructions follow the text.
  for (let length = 0; length < text.length - 2; length += 1) {
    expect(() => unpickleText(text.subarray(0, length))).toThrow(/no pickled text|cut off/);
  }
});
