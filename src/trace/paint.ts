type Stroke = (text: string) => string;

/** How a renderer sets its words apart; it knows meanings, the terminal knows colours. */
export interface Paint {
  readonly strong: Stroke;
  readonly faint: Stroke;
  readonly good: Stroke;
  readonly bad: Stroke;
  readonly busy: Stroke;
}

const asItIs: Stroke = (text) => text;

/** For files, pipes and people who want no colours. */
export const PLAIN: Paint = { strong: asItIs, faint: asItIs, good: asItIs, bad: asItIs, busy: asItIs };
