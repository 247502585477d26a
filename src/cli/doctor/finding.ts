/** What one look at one thing found. */
export interface Finding {
  readonly what: string;
  /** `broken` keeps a solve from running; `note` is good to know. */
  readonly state: 'fine' | 'note' | 'broken';
  /** What is there, or what is wrong and how to mend it. */
  readonly text: string;
}

export function fine(what: string, text: string): Finding {
  return { what, state: 'fine', text };
}

export function note(what: string, text: string): Finding {
  return { what, state: 'note', text };
}

export function broken(what: string, text: string): Finding {
  return { what, state: 'broken', text };
}
