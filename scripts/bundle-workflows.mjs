// Bundles the workflows once, at build time: at worker start it would cost every worker some seconds.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('../lib/workflows/index.js', import.meta.url)),
  logger: new DefaultLogger('ERROR'),
});
await writeFile(new URL('../lib/workflow-bundle.js', import.meta.url), code);
