/** Takes one plain sentence for the person who waits, e.g. to print it on stderr. */
export type Say = (line: string) => void;
