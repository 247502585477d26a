import type { ReactElement } from 'react';
import { BaseEdge, type Edge, type EdgeProps } from '@xyflow/react';
import type { Direction, GraphPoint } from './layout';

export interface LineData extends Record<string, unknown> {
  readonly bends: readonly GraphPoint[];
  readonly direction: Direction;
}

/** Line from a step to one that sees its output, past the steps between them. */
export function SeenLine(props: EdgeProps<Edge<LineData>>): ReactElement {
  const { sourceX, sourceY, targetX, targetY, data, markerEnd } = props;
  const { bends = [], direction = 'LR' } = data ?? {};
  const ends = [{ x: sourceX, y: sourceY }, ...bends, { x: targetX, y: targetY }];
  const curves = ends.slice(1).map((to, index) => curve(ends[index] ?? to, to, direction));
  return <BaseEdge path={`M${sourceX},${sourceY}${curves.join('')}`} markerEnd={markerEnd} />;
}

/** Returns a Bézier curve that leaves and arrives in the plan's reading direction. */
function curve(from: GraphPoint, to: GraphPoint, direction: Direction): string {
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const [one, other] =
    direction === 'LR'
      ? [`${middle.x},${from.y}`, `${middle.x},${to.y}`]
      : [`${from.x},${middle.y}`, `${to.x},${middle.y}`];
  return `C${one} ${other} ${to.x},${to.y}`;
}
