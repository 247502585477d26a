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
  // Forgets what this answer says of its names: after `a(b+c)`, the engine takes `a` for a function.
  ce.pushScope();
  try {
    if (kind === 'expression') return compareExpressions(ce.parse(right), ce.parse(answer));
    return compareRelations(difference(right), difference(answer), kind === 'inequality');
  } catch {
    return 'unknown';
  } finally {
    ce.popScope();
  }
}

function difference([left, right]) {
  return ce.box(['Subtract', ce.parse(left), ce.parse(right)]);
}

function compareExpressions(right, answer) {
  if (!right.isValid || !answer.isValid) return 'unknown';
  const unknowns = unknownsOf(right, answer);
  if (unknowns.length > 0) {
    if (hasValues(right) && hasValues(answer)) return compareAtPoints(right, answer, unknowns);
    return right.isSame(answer) ? 'same' : 'unknown';
  }
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

/** Operators that have a value wherever their operands do. The value of any other, such as `f'(x)`, is a guess. */
const NUMERIC = new Set(
  [
    'Add Subtract Negate Multiply Divide Rational Complex Power Square Sqrt Root Exp Ln Log Lb Abs Sign',
    'Sin Cos Tan Cot Sec Csc Arcsin Arccos Arctan Arccot Arcsec Arccsc Arctan2',
    'Sinh Cosh Tanh Coth Sech Csch Arsinh Arcosh Artanh Arcoth Arsech Arcsch',
    'Floor Ceil Round Fract Factorial Factorial2 Binomial Choose Gamma Max Min Mod GCD LCM',
    'Degrees Delimiter Integrate Sum Product Limits Function Block',
  ].flatMap((names) => names.split(' ')),
);

/** Returns whether an expression has a value at a point: it has no unknown function, sequence or complex number. */
function hasValues(expression) {
  const { operator, ops } = expression;
  if (ops === null || ops === undefined) return true;
  if (!NUMERIC.has(operator)) return false;
  if ((operator === 'Sum' || operator === 'Product') && !isOverNumbers(ops)) return false;
  return ops.every(hasValues);
}

/** Returns whether a sum's bounds are known, and no term of it, such as `a_k`, is named after its index. */
function isOverNumbers([body, ...limits]) {
  return limits.every(({ ops }) => {
    const [index, ...bounds] = ops ?? [];
    const isKnown = bounds.length > 0 && bounds.every((bound) => bound.unknowns.length === 0);
    return isKnown && body.symbols.every((name) => !name.includes('_') || !name.includes(index.symbol));
  });
}

/** Compares where both values are real, since only there a root of a quotient is a quotient of roots; else everywhere. */
function compareAtPoints(right, answer, unknowns) {
  const values = [...POINTS.keys()].map((place) => {
    return [right, answer].map((each) => valueAt(each, unknowns, place));
  });
  const real = values.filter((both) => both.every(({ re, im }) => im === 0 && Number.isFinite(re)));
  return compareValues(real.length >= LEAST_POINTS ? real : values);
}

function compareValues(values) {
  let alike = 0;
  for (const [one, other] of values) {
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
  if (!hasValues(right) || !hasValues(answer)) return right.isSame(answer) ? 'same' : 'unknown';
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
