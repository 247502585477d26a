// `node --require` this file to run TypeScript of the repository in a process of its own: the same sources, compiled
// by the same compiler, as jest runs in its process. A built lib/ might be an older state of them.
const { transformFileSync } = require('@swc/core');

const options = {
  swcrc: false,
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  // Packages that are ESM alone stay loadable by import().
  module: { type: 'commonjs', ignoreDynamic: true },
  sourceMaps: 'inline',
};

const compile = (module, file) => {
  module._compile(transformFileSync(file, options).code, file);
};

// Before all others: `./name` is name.ts, also where a name.json lies beside it.
const others = Object.entries(require.extensions);
for (const [extension] of others) delete require.extensions[extension];
Object.assign(require.extensions, { '.ts': compile }, Object.fromEntries(others));
