// Bundles the workflows once, at build time: at worker start it would cost every worker some seconds.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const root = fileURLToPath(new URL('..', import.meta.url));

const { code } = await bundleWorkflowCode({
  workflowsPath: join(root, 'lib/workflows/index.js'),
  logger: new DefaultLogger('ERROR'),
  // A source map for stack traces alone: half the size, and free of the paths of the machine that built it.
  webpackConfigHook: (config) => ({
    ...config,
    devtool: 'inline-nosources-source-map',
    output: {
      ...config.output,
      devtoolModuleFilenameTemplate: ({ absoluteResourcePath }) => absoluteResourcePath.replaceAll(root, ''),
    },
  }),
});
await writeFile(join(root, 'lib/workflow-bundle.js'), code);
