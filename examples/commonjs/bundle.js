// Bundles the workflows at build time, so that workers need not do it when they start.
const { writeFile } = require('node:fs/promises');
const { bundleWorkflowCode, DefaultLogger } = require('@temporalio/worker');

async function main() {
  const { code } = await bundleWorkflowCode({
    workflowsPath: require.resolve('./workflows.js'),
    logger: new DefaultLogger('WARN'),
  });
  await writeFile('workflow-bundle.js', code);
}

void main();
