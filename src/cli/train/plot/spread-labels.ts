/**
 * Places for labels of one column that would lie over each other: as near as can be to where each wants to be, in the
 * same order, at least `gap` apart and within the bounds as long as there is room.
 *
 * @param wanted heights in pixels, in any order
 * @returns a height for each, in the order of `wanted`
 */
export function spreadLabels(
  wanted: readonly number[],
  { gap, top, bottom }: { readonly gap: number; readonly top: number; readonly bottom: number },
): number[] {
  const places: number[] = [];
  for (const { members, centre } of settle(clustersOf(wanted), { gap, top, bottom })) {
    members.forEach((member, rank) => {
      places[member] = centre + (rank - (members.length - 1) / 2) * gap;
    });
  }
  return places;
}

/** Labels that touch, from the topmost down, and the middle of them all. */
interface Cluster {
  readonly members: readonly number[];
  readonly centre: number;
}

function clustersOf(wanted: readonly number[]): Cluster[] {
  return wanted.map((centre, member) => ({ members: [member], centre })).sort((a, b) => a.centre - b.centre);
}

/** Puts clusters that overlap together, around the mean of what their members wanted, until none does. */
function settle(
  clusters: readonly Cluster[],
  room: { readonly gap: number; readonly top: number; readonly bottom: number },
): Cluster[] {
  const settled: Cluster[] = [];
  for (const cluster of clusters) {
    let next = within(cluster, room);
    for (let above = settled.at(-1); above !== undefined; above = settled.at(-1)) {
      const reach = ((above.members.length + next.members.length) / 2) * room.gap;
      if (next.centre - above.centre >= reach) break;
      settled.pop();
      next = within(join(above, next), room);
    }
    settled.push(next);
  }
  return settled;
}

function join(above: Cluster, below: Cluster): Cluster {
  const members = [...above.members, ...below.members];
  const centre = (above.centre * above.members.length + below.centre * below.members.length) / members.length;
  return { members, centre };
}

function within(
  { members, centre }: Cluster,
  { gap, top, bottom }: { readonly gap: number; readonly top: number; readonly bottom: number },
): Cluster {
  const half = ((members.length - 1) * gap) / 2;
  return { members, centre: Math.max(top + half, Math.min(centre, bottom - half)) };
}
