import { activityInfo } from '@temporalio/activity';
import { FAILURES } from '../../protocol/failures';
import type { ToolRequest } from '../../protocol/tool-use';
import { ATTRIBUTES, OPERATIONS } from '../../telemetry/names';
import { whileInSpan } from './call';
import { placeOf } from './describe';

/** Has a tool carry out a call, within a span. @param isError whether a result says that the tool failed */
export function whileUsingTool<Result>(
  request: ToolRequest,
  use: () => Promise<Result>,
  isError: (result: Result) => boolean,
): Promise<Result> {
  const { worker, tool, ...place } = request;
  const { workflowId = '' } = activityInfo().workflowExecution ?? {};
  const start = {
    name: `${OPERATIONS.tool} ${tool.name}`,
    attributes: {
      [ATTRIBUTES.operation]: OPERATIONS.tool,
      [ATTRIBUTES.tool]: tool.name,
      [ATTRIBUTES.agent]: worker,
      ...placeOf({ ...place, workflowId }),
    },
  };
  return whileInSpan(request, start, use, {
    endOf: (result) => ({ error: isError(result) ? FAILURES.toolFailed : undefined }),
    untyped: FAILURES.toolUnknown,
  });
}
