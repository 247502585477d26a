// Bundles the workflows once, at build time: at worker start it would cost every worker some seconds.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));

async function bundle(file, workflowsPath, options) {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, 'lib', workflowsPath),
    logger: new DefaultLogger('ERROR'),
    // A source map for stack traces alone: half the size, and free of the paths of the machine that built it.
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

// With this failure converter, which is part of a bundle, messages of failures reach a payload codec.
const encrypted = { failureConverterPath: join(root, 'lib/workflows/encoded-failures.js') };

// A worker that only solves runs no line of training.
for (const [name, workflowsPath] of [
  ['workflow', 'evaluation/workflows/index.js'],
  ['training', 'training/workflows/index.js'],
]) {
  await bundle(`${name}-bundle.js`, workflowsPath, {});
  await bundle(`encrypted-${name}-bundle.js`, workflowsPath, encrypted);
}
