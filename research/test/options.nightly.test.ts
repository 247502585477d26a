import { readWhole, readWord, seedsFrom } from '../support/options';

test('seeds count up from the first', () => {
  expect(seedsFrom({ seeds: '3', first: '5' })).toEqual([5, 6, 7]);
  expect(seedsFrom({ seeds: '0', first: '5' })).toEqual([]);
});

test.each(['x', '', '-1', '1.5', '1e400'])(
  '%p is not accepted as a count, and the option is named',
  (text) => {
    expect(() => readWhole('--kills', text)).toThrow(`--kills takes a whole number from 0, not "${text}".`);
    expect(() => seedsFrom({ seeds: text, first: '0' })).toThrow('--seeds');
  },
);

test('an option with fixed values rejects any other', () => {
  expect(readWord('--device', 'cuda', ['cpu', 'cuda'])).toBe('cuda');
  expect(() => readWord('--device', 'CPU', ['cpu', 'cuda'])).toThrow(
    '--device takes cpu or cuda, not "CPU".',
  );
});
