/** Makes a thing when it is first asked for, and keeps it. What failed may be mended: then the next ask tries again. */
export function keepMade<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () =>
    (made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    }));
}
