// `node --require` this file to run the repository's TypeScript in a separate process, compiled by the same compiler
// as in jest. A built lib/ might be older than the sources.
const { transformFileSync } = require('@swc/core');

const options = {
  swcrc: false,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  // Keeps import() as it is, so that ESM-only packages can be loaded.
  module: { type: 'commonjs', ignoreDynamic: true },
  sourceMaps: 'inline',
};

const compile = (module, file) => {
  module._compile(transformFileSync(file, options).code, file);
};

// Tries .ts before all others: `./name` is name.ts, even if a name.json lies beside it.
const others = Object.entries(require.extensions);
for (const [extension] of others) delete require.extensions[extension];
Object.assign(require.extensions, { '.ts': compile }, Object.fromEntries(others));
