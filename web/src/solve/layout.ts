import { Graph, layout } from '@dagrejs/dagre';

export type Direction = 'LR' | 'TB';

/** Node sizes in pixels; `TB` is narrower, so that two nodes fit side by side on a phone. */
export const NODES = { LR: { width: 232, height: 104 }, TB: { width: 156, height: 104 } } as const;
const GAPS = { LR: { nodesep: 16, ranksep: 56 }, TB: { nodesep: 16, ranksep: 36 } } as const;
const MARGIN = 8;

export interface GraphPoint {
  readonly x: number;
  readonly y: number;
}

interface Layout {
  readonly places: readonly GraphPoint[];
  /** Points where a line bends on its way past other steps, by `nameOfLine`. */
  readonly bends: ReadonlyMap<string, readonly GraphPoint[]>;
  readonly width: number;
  readonly height: number;
}

export function nameOfLine(seen: number, step: number): string {
  return `${seen}-${step}`;
}

/**
 * Lays out a plan's steps. Depends only on what they see, so that nothing moves when a state changes.
 * @param steps which earlier steps each step sees, counted from 0
 */
export function layOut(steps: readonly (readonly number[])[], direction: Direction): Layout {
  const node = NODES[direction];
  const graph = new Graph();
  graph.setGraph({ rankdir: direction, ...GAPS[direction], marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const index of steps.keys()) graph.setNode(String(index), { ...node });
  const lines = steps.flatMap((sees, step) =>
    sees.filter((seen) => seen < step).map((seen) => [seen, step] as const),
  );
  for (const [seen, step] of lines) graph.setEdge(String(seen), String(step));
  layout(graph);
  const centres = steps.map((_, index) => graph.node(String(index)) as GraphPoint);
  const bends = lines.map(([seen, step]) => {
    const { points } = graph.edge(String(seen), String(step)) as { readonly points: readonly GraphPoint[] };
    // The end points lie on the steps, and a single point between adjacent steps is no bend.
    return points.length > 3 ? points.slice(1, -1) : [];
  });
  const room = (side: 'x' | 'y', size: number): number =>
    Math.max(size, ...[...centres, ...bends.flat()].map((place) => place[side] + size / 2)) + MARGIN;
  const [width, height] = [room('x', node.width), room('y', node.height)];
  const turn = firstStepsFirst(centres, direction, { width, height });
  return {
    places: centres.map(turn).map(({ x, y }) => ({ x: x - node.width / 2, y: y - node.height / 2 })),
    bends: new Map(
      lines.map(([seen, step], index) => [nameOfLine(seen, step), (bends[index] ?? []).map(turn)]),
    ),
    width,
    height,
  };
}

/** Returns a function that mirrors the layout if the first wave is in reverse order; this adds no crossings. */
function firstStepsFirst(
  centres: readonly GraphPoint[],
  direction: Direction,
  room: { readonly width: number; readonly height: number },
): (place: GraphPoint) => GraphPoint {
  const [along, across] = direction === 'LR' ? (['x', 'y'] as const) : (['y', 'x'] as const);
  const [first] = centres;
  const last = centres.findLast((place) => place[along] === first?.[along]);
  if (first === undefined || last === undefined || last[across] >= first[across]) return (place) => place;
  return ({ x, y }) => (direction === 'LR' ? { x, y: room.height - y } : { x: room.width - x, y });
}
