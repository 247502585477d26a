// Finds circles among the modules of the trainer; dependency-cruiser finds those of TypeScript.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = 'trainer/src';
const PACKAGE = 'conductor_trainer';
/** An import anywhere in a file, within functions too: it makes a circle for a reader even where Python breaks it. */
const IMPORT = new RegExp(String.raw`^[ \t]*from (${PACKAGE}[\w.]*) import \(?([\w, ]+)`, 'gm');

/** Returns each circle as a sentence that names its modules. */
export function findPythonCircles() {
  const modules = new Map(pythonFiles().map((file) => [moduleOf(file), readFileSync(file, 'utf8')]));
  const imports = new Map([...modules].map(([name, text]) => [name, importsOf(text, modules)]));
  const reached = new Map([...imports.keys()].map((name) => [name, reachedFrom(name, imports)]));
  const circular = [...reached].filter(([name, others]) => others.has(name)).map(([name]) => name);
  return circular.length === 0
    ? []
    : [`${circular.join(', ')} import each other in a circle: divide one of them.`];
}

function pythonFiles() {
  return readdirSync(join(ROOT, PACKAGE), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.py'))
    .map(({ parentPath, name }) => join(parentPath, name));
}

function moduleOf(file) {
  return relative(ROOT, file)
    .replace(/(\/__init__)?\.py$/, '')
    .replaceAll('/', '.');
}

function importsOf(text, modules) {
  return [...text.matchAll(IMPORT)].flatMap(([, from, names]) =>
    names
      .split(',')
      .map((name) => `${from}.${name.trim()}`)
      .map((name) => (modules.has(name) ? name : from)),
  );
}

function reachedFrom(name, imports) {
  const reached = new Set();
  const waiting = [...(imports.get(name) ?? [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached.has(next)) continue;
    reached.add(next);
    waiting.push(...(imports.get(next) ?? []));
  }
  return reached;
}
