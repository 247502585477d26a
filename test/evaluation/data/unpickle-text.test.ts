import { execFileSync } from 'node:child_process';
import { unpickleText } from '../../../src/evaluation/data/code-sets';

/** Pickles as Python does. */
const pickled = (expression: string, protocol: number): Buffer =>
  execFileSync('python3', [
    '-c',
    `import os, pickle, sys\nclass Evil:\n def __reduce__(self): return os.system, ("true",)\nsys.stdout.buffer.write(pickle.dumps(${expression}, ${protocol}))`,
  ]);

test.each([2, 3, 4, 5])('texts of protocol %i, short and long', (protocol) => {
  expect(unpickleText(pickled('\'[{"é": 1}]\'', protocol))).toBe('[{"é": 1}]');
  expect(unpickleText(pickled("'x' * 70000", protocol))).toHaveLength(70_000);
});

test.each([
  ['a call', 'Evil()'],
  ['a class', 'os.system'],
  ['a list', "['a']"],
  ['bytes', "b'a'"],
  ['a number', '7'],
])('%s is refused', (_, expression) => {
  for (const protocol of [2, 3, 4, 5]) {
    expect(() => unpickleText(pickled(expression, protocol))).toThrow(/more than a text \(instruction 0x/);
  }
});

test('each instruction but those that make a text is refused, and so is what is cut off', () => {
  const text = pickled("'abc'", 4);
  const harmless = [0x80, 0x95, 0x8c, 0x58, 0x8d, 0x94, 0x71, 0x72, 0x2e];
  for (let code = 0; code < 256; code += 1) {
    if (!harmless.includes(code))
      expect(() => unpickleText(Buffer.from([0x80, 4, code, 0x2e]))).toThrow(/more than a text/);
  }
  for (let length = 0; length < text.length; length += 1) {
    expect(() => unpickleText(text.subarray(0, length))).toThrow(/cut off/);
  }
  expect(() => unpickleText(Buffer.from([0x80, 4, 0x2e]))).toThrow('0 texts');
});
