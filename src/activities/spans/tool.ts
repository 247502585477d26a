import { activityInfo } from '@temporalio/activity';
import { FAILURES } from '../../protocol/failures';
import type { ToolRequest } from '../../protocol/tool-use';
import { ATTRIBUTES, OPERATIONS } from '../../telemetry/names';
import { startInRun } from './call';
import { placeOf, typeOfThrown } from './describe';

/** Has a tool carry out a call, within a span. @param isError whether a result says that the tool failed */
export async function whileUsingTool<Result>(
  request: ToolRequest,
  use: () => Promise<Result>,
  isError: (result: Result) => boolean,
): Promise<Result> {
  const { worker, tool, ...place } = request;
  const { workflowId = '' } = activityInfo().workflowExecution ?? {};
  const span = await startInRun(request, {
    name: `${OPERATIONS.tool} ${tool.name}`,
    attributes: {
      [ATTRIBUTES.operation]: OPERATIONS.tool,
      [ATTRIBUTES.tool]: tool.name,
      [ATTRIBUTES.agent]: worker,
      ...placeOf({ ...place, workflowId }),
    },
  });
  if (span === null) return use();
  try {
    const result = await span.during(use);
    span.end({ error: isError(result) ? FAILURES.toolFailed : undefined });
    return result;
  } catch (error) {
    span.end({ error: typeOfThrown(error) || FAILURES.toolUnknown });
    throw error;
  }
}
