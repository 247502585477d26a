import { activityInfo } from '@temporalio/activity';
import { whileInSpan } from '../../activities';
import { ATTRIBUTES, OPERATIONS } from '../../telemetry/names';
import type { GradeRequest } from './grade-answers';

/** Grades answers within a span: below that of the request, else in the trace of its workflow. */
export function whileGrading<Result>(
  { traceparent }: GradeRequest,
  grade: () => Promise<Result>,
): Promise<Result> {
  const { workflowId = '' } = activityInfo().workflowExecution ?? {};
  const start = {
    name: OPERATIONS.grade,
    attributes: {
      [ATTRIBUTES.operation]: OPERATIONS.grade,
      [ATTRIBUTES.conversation]: workflowId,
      [ATTRIBUTES.run]: workflowId,
    },
  };
  return whileInSpan({ rootId: workflowId, traceparent }, start, grade);
}
