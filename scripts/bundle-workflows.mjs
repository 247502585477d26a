// Bundles the workflows at build time, since bundling at start-up would take every worker some seconds.
import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));
const lib = join(root, 'lib');
const require = createRequire(import.meta.url);

/** Each exports the names of those before it, too. */
const AREAS = ['workflows', 'evaluation/workflows', 'training/workflows'];

const entry = join(lib, 'workflow-entry.js');
await writeFile(entry, lazyEntry());
const { code } = await bundleWorkflowCode({
  workflowsPath: entry,
  failureConverterPath: join(lib, 'workflows/encoded-failures.js'),
  logger: new DefaultLogger('ERROR'),
  // A source map for stack traces only: half the size, and without the paths of the build machine.
  webpackConfigHook: (config) => ({
    ...config,
    devtool: 'inline-nosources-source-map',
    output: {
      ...config.output,
      devtoolModuleFilenameTemplate: ({ absoluteResourcePath }) => absoluteResourcePath.replaceAll(root, ''),
    },
  }),
});
await rm(entry);
await writeFile(join(lib, 'workflow-bundle.js'), code);

/**
 * Returns an entry that loads an area with the first use of its names. Temporal loads the entry for each run, so that a
 * solve would otherwise load training, too.
 */
function lazyEntry() {
  const getters = new Map();
  for (const area of AREAS.toReversed()) {
    for (const name of Object.keys(require(join(lib, area))))
      getters.set(name, `get ${name}() { return require('./${area}').${name}; }`);
  }
  return `module.exports = { ${[...getters.values()].join(',\n')} };\n`;
}
