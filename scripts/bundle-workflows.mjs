// Bundles the workflows once, at build time: at worker start it would cost every worker some seconds.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));

async function bundle(file, options) {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, 'lib/workflows/index.js'),
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

await bundle('workflow-bundle.js');
// A failure converter is part of the bundle. With this one, messages of failures reach a payload codec.
await bundle('encrypted-workflow-bundle.js', {
  failureConverterPath: join(root, 'lib/workflows/encoded-failures.js'),
});
