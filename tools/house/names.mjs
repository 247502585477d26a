// Finds exported names that stand twice in src, so that a search for a name leads to one declaration.
import ts from 'typescript';

/**
 * Returns a sentence on each name that several files declare and export. Re-exports are no declarations.
 *
 * @param {ReadonlyMap<string, string>} sources text of each file, by its path relative to src
 */
export function findNamesTwice(sources) {
  const files = new Map();
  for (const [file, text] of sources) {
    for (const name of exportedNames(file, text))
      files.set(name, [...(files.get(name) ?? []), `src/${file}`]);
  }
  return [...files]
    .filter(([, [, ...others]]) => others.length > 0)
    .map(
      ([name, places]) =>
        `${name} is exported by ${places.join(' and ')}: give each a name that says what differs.`,
    );
}

/** Names that a file declares and exports, each once: overloads, and a type with a value's name, are one. */
function exportedNames(file, text) {
  const { statements } = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const declared = new Set(statements.flatMap(namesOf));
  const exported = statements.filter(isExported).flatMap(namesOf);
  const listed = statements
    .filter((each) => ts.isExportDeclaration(each) && each.moduleSpecifier === undefined)
    .flatMap(({ exportClause }) => exportClause.elements)
    .filter(({ name, propertyName = name }) => declared.has(propertyName.text))
    .map(({ name }) => name.text);
  return new Set([...exported, ...listed]);
}

function isExported({ modifiers = [] }) {
  const kinds = modifiers.map(({ kind }) => kind);
  return kinds.includes(ts.SyntaxKind.ExportKeyword) && !kinds.includes(ts.SyntaxKind.DefaultKeyword);
}

function namesOf(statement) {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => namesIn(name));
  }
  return ts.isIdentifier(statement.name ?? {}) ? [statement.name.text] : [];
}

function namesIn(name) {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.filter((each) => !ts.isOmittedExpression(each)).flatMap((each) => namesIn(each.name));
}
