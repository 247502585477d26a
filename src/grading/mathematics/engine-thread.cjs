// A thread that compares mathematics with compute-engine, one request at a time. A request may never end or run out of
// memory: the thread is then ended from outside (killable.ts).
const { parentPort } = require('node:worker_threads');
const { ComputeEngine } = require('@cortex-js/compute-engine');

const ce = new ComputeEngine();
ce.precision = 100;

/** Relative difference up to which values are the same. It must be small: e^{π√163} is almost a whole number. */
const EXACT = 1e-80;
/** Relative tolerance if unknowns are given values, since those are doubles. */
const SAMPLED = 1e-9;
/** Values for unknowns: unrelated to each other, and not special to any usual function. */
const POINTS = [0.7313, 1.3571, 2.2193, 3.4177, -0.6173, -1.7931, 0.2719, 5.1317];
/** Fewest points at which both must have a value for a conclusion. */
const LEAST_POINTS = 3;

parentPort.on('message', (job) => {
  parentPort.postMessage(compare(job));
});
parentPort.postMessage('ready');

function compare({ kind, right, answer }) {
  try {
    if (kind === 'expression') return compareExpressions(ce.parse(right), ce.parse(answer));
    return compareRelations(difference(right), difference(answer), kind === 'inequality');
  } catch {
    return 'unknown';
  }
}

function difference([left, right]) {
  return ce.box(['Subtract', ce.parse(left), ce.parse(right)]);
}

function compareExpressions(right, answer) {
  if (!right.isValid || !answer.isValid) return 'unknown';
  const unknowns = unknownsOf(right, answer);
  if (unknowns.length > 0) return compareAtPoints(right, answer, unknowns);
  const [one, other] = [right.N(), answer.N()];
  if ([one, other].some((each) => Number.isNaN(sizeOf(each)))) {
    return right.isEqual(answer) === true ? 'same' : 'unknown';
  }
  if ([one, other].some(({ isFinite }) => isFinite === false)) return compareInfinite(one, other);
  if (one.is(0) && other.is(0)) return 'same';
  // A relative difference fits into a double even if the values do not.
  const whole = one.is(0) ? answer : right;
  const apart = sizeOf(ce.box(['Divide', ['Subtract', right, answer], whole]).N());
  if (Number.isNaN(apart)) return 'unknown';
  return apart <= EXACT ? 'same' : 'different';
}

function compareInfinite(one, other) {
  const ends = [one, other].map((each) => (each.isFinite === false ? each.toString() : null));
  if (ends.some((end) => end !== null && !/^[-+]?oo$/.test(end))) return 'unknown';
  return ends[0] === ends[1] ? 'same' : 'different';
}

function compareAtPoints(right, answer, unknowns) {
  let alike = 0;
  for (const place of POINTS.keys()) {
    const [one, other] = [right, answer].map((each) => valueAt(each, unknowns, place));
    const apart = Math.hypot(one.re - other.re, one.im - other.im);
    if (!Number.isFinite(apart)) continue;
    const size = Math.max(Math.hypot(one.re, one.im), Math.hypot(other.re, other.im));
    if (apart > SAMPLED * size) return 'no';
    alike += 1;
  }
  return alike >= LEAST_POINTS ? 'same' : 'unknown';
}

/** Equations have the same solutions if one difference is a multiple of the other; inequalities, if a positive one. */
function compareRelations(right, answer, isOrdered) {
  if (!right.isValid || !answer.isValid) return 'unknown';
  const unknowns = unknownsOf(right, answer);
  const ratios = [];
  for (const place of POINTS.keys()) {
    const [one, other] = [right, answer].map((each) => valueAt(each, unknowns, place).re);
    if (Number.isFinite(one) && Number.isFinite(other) && one !== 0) ratios.push(other / one);
  }
  const [first] = ratios;
  if (ratios.length < LEAST_POINTS) return 'unknown';
  const isMultiple =
    first !== 0 && ratios.every((ratio) => Math.abs(ratio - first) <= SAMPLED * Math.abs(first));
  return isMultiple && (first > 0 || !isOrdered) ? 'same' : 'no';
}

function unknownsOf(right, answer) {
  return [...new Set([...right.unknowns, ...answer.unknowns])].sort();
}

function valueAt(expression, unknowns, place) {
  const values = unknowns.map((name, index) => [
    name,
    POINTS[(place + 3 * index) % POINTS.length] + index / 7,
  ]);
  const { re, im } = expression.subs(Object.fromEntries(values)).N();
  return { re, im: Number.isNaN(im) && !Number.isNaN(re) ? 0 : im };
}

function sizeOf({ re, im }) {
  return Math.hypot(re, im);
}
