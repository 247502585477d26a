// A thread that compiles a caller's schema and applies it to an answer, one request at a time. Either may never end or
// run out of memory: the thread is then ended from outside (killable.ts).
const { parentPort } = require('node:worker_threads');
const { Ajv } = require('ajv');
const { Ajv2020 } = require('ajv/dist/2020.js');

const LATEST = 'https://json-schema.org/draft/2020-12/schema';

const DIALECTS = {
  [LATEST]: Ajv2020,
  'http://json-schema.org/draft-07/schema': Ajv,
};

parentPort.on('message', ({ schema, answer, mostFaults }) => {
  parentPort.postMessage(check(JSON.parse(schema), answer, mostFaults));
});
parentPort.postMessage('ready');

/** @param answer undefined: only the schema is checked */
function check(schema, answer, mostFaults) {
  const { $schema = LATEST } = schema;
  const dialect = Object.keys(DIALECTS).find((name) => $schema === name || $schema === `${name}#`);
  if (dialect === undefined) return { kind: 'unknown-dialect', known: Object.keys(DIALECTS) };
  let validate;
  try {
    validate = compile(schema, DIALECTS[dialect]);
  } catch (error) {
    return { kind: 'bad-schema', reason: error.message };
  }
  if (answer === undefined) return { kind: 'fits' };
  let value;
  try {
    value = JSON.parse(answer);
  } catch (error) {
    return { kind: 'not-json', reason: error.message };
  }
  return validate(value)
    ? { kind: 'fits' }
    : { kind: 'faults', faults: faultsIn(validate.errors, mostFaults) };
}

/** As in 2020-12, `format` is only an annotation. */
function compile(schema, Validator) {
  const validator = new Validator({
    strict: false,
    validateFormats: false,
    allErrors: true,
    // A definition that is referred to a thousand times is compiled once.
    inlineRefs: false,
    logger: false,
  });
  // Ajv's `$async` extension would make `validate` return a promise, and every answer would pass.
  return validator.compile({ ...schema, $async: false });
}

/** Returns the first faults that differ. */
function faultsIn(errors, most) {
  const faults = new Map();
  for (const { instancePath, message, params } of errors) {
    const [named = null] = Object.values(params);
    const isText = named === null || typeof named === 'string';
    const fault = { path: instancePath, message, named: isText ? named : JSON.stringify(named) };
    faults.set(JSON.stringify(fault), fault);
    if (faults.size === most) break;
  }
  return [...faults.values()];
}
