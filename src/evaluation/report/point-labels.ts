/** A rectangle in pixels of the page. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A point of a plot with the width of its name. */
export interface NamedPoint {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Place of a name: where its text begins, or ends if it is `right`-aligned, and the middle of its line. */
export interface LabelPlace {
  readonly x: number;
  readonly y: number;
  readonly align: 'left' | 'right';
  /** It lies away from its point, so a line has to lead to it. */
  readonly isMoved: boolean;
}

/** Distance of a name from its point, height of a line of text, and steps by which a name is moved. */
const [GAP, PITCH, STEP] = [9, 14, 5];
const POINT = 6;
/** Costs of a place, in pixels by which a name would rather be moved. */
const [LEFT_COST, CROSSING_COST] = [3, 16];

/**
 * Places names beside their points, and moves one up or down only if it would touch another name or point, or lie
 * across a line.
 */
export function placeLabels(
  points: readonly NamedPoint[],
  { area, lines }: { readonly area: Box; readonly lines: readonly Box[] },
): LabelPlace[] {
  const dots = points.map(({ x, y }) => boxAround(x, y, POINT));
  const taken: Box[] = [];
  return points.map((point, own) => {
    const others = [...taken, ...dots.filter((_, index) => index !== own)];
    const ranked = candidatesOf(point, area).map((place) => {
      const box = boxOf(place, point.width);
      const touched = others.filter((other) => isTouching(box, other)).length;
      const crossed = lines.filter((line) => isTouching(box, line)).length;
      return { place, box, touched, cost: place.cost + CROSSING_COST * crossed };
    });
    // A name that finds no free place takes one where it touches least.
    ranked.sort((one, other) => one.touched - other.touched || one.cost - other.cost);
    const [best] = ranked;
    if (best === undefined) return { x: point.x + GAP, y: point.y, align: 'left', isMoved: false };
    taken.push(best.box);
    return best.place;
  });
}

function candidatesOf({ x, y, width }: NamedPoint, area: Box): (LabelPlace & { readonly cost: number })[] {
  const most = Math.ceil((area.bottom - area.top) / STEP);
  const shifts = Array.from({ length: 2 * most + 1 }, (_, index) => (index - most) * STEP);
  const rows = shifts.filter((shift) => y + shift >= area.top && y + shift <= area.bottom);
  const sides = [
    { align: 'left', x: x + GAP, cost: 0, fits: x + GAP + width <= area.right },
    { align: 'right', x: x - GAP, cost: LEFT_COST, fits: x - GAP - width >= area.left },
  ] as const;
  return sides
    .filter(({ fits }) => fits)
    .flatMap(({ align, x, cost }) =>
      rows.map((shift) => ({
        x,
        y: y + shift,
        align,
        isMoved: Math.abs(shift) > PITCH,
        cost: cost + Math.abs(shift),
      })),
    );
}

function boxOf({ x, y, align }: LabelPlace, width: number): Box {
  const left = align === 'left' ? x : x - width;
  return { left, right: left + width, top: y - PITCH / 2, bottom: y + PITCH / 2 };
}

function boxAround(x: number, y: number, reach: number): Box {
  return { left: x - reach, right: x + reach, top: y - reach, bottom: y + reach };
}

function isTouching(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
