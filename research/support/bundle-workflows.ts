import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Bundles the package's workflows into a folder, and returns the file that workers take. */
export async function bundleWorkflows(folder: string): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: require.resolve('../../src/training/workflows'),
    logger: new DefaultLogger('ERROR'),
  });
  const path = join(folder, 'workflow-bundle.js');
  await writeFile(path, code);
  return path;
}
