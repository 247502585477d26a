import { execFileSync } from 'node:child_process';
import { unpickleText } from '../../../src/evaluation/data/code-sets';

/** Pickles a Python expression with Python. */
const pickled = (expression: string, protocol: number): Buffer =>
  execFileSync('python3', [
    '-c',
    `import os, pickle, sys\nclass Evil:\n def __reduce__(self): return os.system, ("true",)\nsys.stdout.buffer.write(pickle.dumps(${expression}, ${protocol}))`,
  ]);

test.each([2, 3, 4, 5])('reads short and long texts of protocol %i', (protocol) => {
  expect(unpickleText(pickled('\'[{"é": 1}]\'', protocol))).toBe('[{"é": 1}]');
  expect(unpickleText(pickled("'x' * 70000", protocol))).toHaveLength(70_000);
});

test.each(['Evil()', 'os.system', "['a']", "b'a'", '7'])(
  '%s is not a text, and nothing of it is executed',
  (expression) => {
    for (const protocol of [2, 3, 4, 5]) {
      expect(() => unpickleText(pickled(expression, protocol))).toThrow('this is no pickled text');
    }
  },
);

test('a truncated pickle is refused', () => {
  const text = pickled("'abc'", 4);
  // Two more instructions follow the text.
  for (let length = 0; length < text.length - 2; length += 1) {
    expect(() => unpickleText(text.subarray(0, length))).toThrow(/no pickled text|cut off/);
  }
});
