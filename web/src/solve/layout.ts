import { Graph, layout } from '@dagrejs/dagre';
import type { Plan } from '../../../src/plan/plan';

export type Direction = 'LR' | 'TB';

/** Narrower where the page is: two stand side by side on a phone. */
export const NODES = { LR: { width: 232, height: 104 }, TB: { width: 156, height: 104 } } as const;
const GAPS = { LR: { nodesep: 16, ranksep: 56 }, TB: { nodesep: 16, ranksep: 36 } } as const;
const MARGIN = 8;

interface Layout {
  readonly places: readonly Place[];
  readonly width: number;
  readonly height: number;
}

/** Where the steps of a plan stand. The plan alone decides, so that nothing moves when a state changes. */
export function layOut({ steps }: Plan, direction: Direction): Layout {
  const node = NODES[direction];
  const graph = new Graph();
  graph.setGraph({ rankdir: direction, ...GAPS[direction], marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const index of steps.keys()) graph.setNode(String(index), { ...node });
  for (const [index, { sees }] of steps.entries()) {
    for (const seen of sees) if (seen < index) graph.setEdge(String(seen), String(index));
  }
  layout(graph);
  const places = steps.map((_, index) => {
    const { x, y } = graph.node(String(index)) as { x: number; y: number };
    return { x: x - node.width / 2, y: y - node.height / 2 };
  });
  const width = Math.max(node.width, ...places.map(({ x }) => x + node.width)) + MARGIN;
  const height = Math.max(node.height, ...places.map(({ y }) => y + node.height)) + MARGIN;
  return {
    places: firstStepsFirst(places, direction, { width: width - node.width, height: height - node.height }),
    width,
    height,
  };
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Mirrors what was laid out where the first wave would be read backwards; no lines cross that did not. */
function firstStepsFirst(
  places: readonly Place[],
  direction: Direction,
  room: { readonly width: number; readonly height: number },
): readonly Place[] {
  const [along, across] = direction === 'LR' ? (['x', 'y'] as const) : (['y', 'x'] as const);
  const [first] = places;
  if (first === undefined) return places;
  const last = places.findLast((place) => place[along] === first[along]) ?? first;
  if (last[across] >= first[across]) return places;
  return places.map(({ x, y }) =>
    direction === 'LR' ? { x, y: room.height - y } : { x: room.width - x, y },
  );
}
