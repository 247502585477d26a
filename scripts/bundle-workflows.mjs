// Bundles the workflows at build time, since bundling at start-up would take every worker some seconds.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));

async function bundle(file, workflowsPath, options) {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, 'lib', workflowsPath),
    logger: new DefaultLogger('ERROR'),
    // A source map for stack traces only: half the size, and without the paths of the build machine.
    webpackConfigHook: (config) => ({
      ...config,
      devtool: 'inline-nosources-source-map',
      output: {
        ...config.output,
        devtoolModuleFilenameTemplate: ({ absoluteResourcePath }) =>
          absoluteResourcePath.replaceAll(root, ''),
      },
    }),
    ...options,
  });
  await writeFile(join(root, 'lib', file), code);
}

// With this failure converter, which must be in the bundle, failure messages pass through a payload codec.
const encrypted = { failureConverterPath: join(root, 'lib/workflows/encoded-failures.js') };

// Separate bundles, so that a worker that only solves loads no training code.
for (const [name, workflowsPath] of [
  ['workflow', 'evaluation/workflows/index.js'],
  ['training', 'training/workflows/index.js'],
]) {
  await bundle(`${name}-bundle.js`, workflowsPath, {});
  await bundle(`encrypted-${name}-bundle.js`, workflowsPath, encrypted);
}
