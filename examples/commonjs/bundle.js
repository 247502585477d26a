// Bundles the workflows when the project is built, so that no worker has to when it starts.
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
