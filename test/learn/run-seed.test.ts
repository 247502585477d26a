import { isFlat } from '../../examples/learn/demo/run-seed';

test.each([
  { looks: [0.8, 0.81, 0.81], flat: false, why: 'there are no looks before the last three' },
  { looks: [0.8, 0.801, 0.802, 0.804], flat: true, why: 'it crept up by less than counts' },
  { looks: [0.8, 0.79, 0.78, 0.806], flat: false, why: 'the last look gained' },
  { looks: [0.7, 0.9, 0.8, 0.8, 0.8], flat: true, why: 'the best one lies behind' },
])('$looks: $why', ({ looks, flat }) => {
  expect(isFlat(looks)).toBe(flat);
});
