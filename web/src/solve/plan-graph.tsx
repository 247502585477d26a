import { type ReactElement, useMemo, useRef, useState } from 'react';
import { type Connection, type Edge, MarkerType, type Node, ReactFlow } from '@xyflow/react';
import '@xyflow/react/dist/base.css';
import type { Plan } from '../../../src/plan/plan';
import type { Round } from '../api/types';
import { useWidth } from '../parts/use-width';
import { type Direction, layOut, nameOfLine, NODES, type GraphPoint } from './layout';
import { type LineData, SeenLine } from './seen-line';
import { type Draft, type StepData, StepNode } from './step-node';

interface PlanGraphProps {
  readonly plan: Plan;
  readonly round: Round;
  /** Given if the plan is being edited. */
  readonly draft?: Draft;
}

const NODE_TYPES = { step: StepNode };
const EDGE_TYPES = { seen: SeenLine };
const NARROW_PX = 640;
const SMALLEST = 0.7;

/** Graph of a plan: waves from left to right, or top to bottom if narrow; lines lead to steps that see an output. */
export function PlanGraph({ plan, round, draft }: PlanGraphProps): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [hovered, setHovered] = useState<number | null>(null);
  const direction: Direction = width < NARROW_PX ? 'TB' : 'LR';
  // Only what steps see decides where they stand: typing in a subtask moves nothing.
  const seen = JSON.stringify(plan.steps.map(({ sees }) => sees));
  const placed = useMemo(() => layOut(JSON.parse(seen) as number[][], direction), [seen, direction]);
  const zoom = Math.max(SMALLEST, Math.min(1, width / placed.width));
  const isDraft = draft !== undefined;

  const nodes = useMemo(
    () =>
      plan.steps.map((step, index): Node<StepData> => ({
        id: String(index),
        type: 'step',
        ...NODES[direction],
        position: placed.places[index] ?? { x: 0, y: 0 },
        data: { step, index, round, direction, draft: draft ?? null },
      })),
    [plan, placed, round, direction, draft],
  );
  const edges = useMemo(
    () => edgesOf(plan, placed.bends, { direction, hovered }),
    [plan, placed, direction, hovered],
  );
  const size = { width: placed.width * zoom, height: placed.height * zoom };
  const connect = ({ source, target }: Connection): void => draft?.onToggle(Number(target), Number(source));
  return (
    <div
      className="graph"
      ref={box}
      tabIndex={0}
      role="group"
      aria-label="Plan as a graph"
      style={{ minHeight: size.height }}
    >
      {width > 0 && (
        <div style={size}>
          <ReactFlow
            nodes={nodes}
            edges={edges}
            nodeTypes={NODE_TYPES}
            edgeTypes={EDGE_TYPES}
            viewport={{ x: 0, y: 0, zoom }}
            minZoom={SMALLEST}
            maxZoom={1}
            nodesDraggable={false}
            nodesFocusable={false}
            edgesFocusable={false}
            nodesConnectable={isDraft}
            elementsSelectable={false}
            panOnDrag={false}
            panOnScroll={false}
            zoomOnScroll={false}
            zoomOnPinch={false}
            zoomOnDoubleClick={false}
            preventScrolling={false}
            disableKeyboardA11y
            proOptions={{ hideAttribution: true }}
            isValidConnection={({ source, target }) => Number(source) < Number(target)}
            onConnect={connect}
            onNodeMouseEnter={(_, { id }) => {
              setHovered(Number(id));
            }}
            onNodeMouseLeave={() => {
              setHovered(null);
            }}
          />
        </div>
      )}
    </div>
  );
}

interface LineOptions {
  readonly direction: Direction;
  readonly hovered: number | null;
}

function edgesOf(
  { steps }: Plan,
  bends: ReadonlyMap<string, readonly GraphPoint[]>,
  { direction, hovered }: LineOptions,
): Edge<LineData>[] {
  return steps.flatMap(({ sees }, index) =>
    sees.map((seen): Edge<LineData> => {
      const isLit = hovered === index || hovered === seen;
      return {
        id: nameOfLine(seen, index),
        type: 'seen',
        data: { bends: bends.get(nameOfLine(seen, index)) ?? [], direction },
        source: String(seen),
        target: String(index),
        className: isLit ? 'lit' : '',
        markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--line-strong)' },
      };
    }),
  );
}
