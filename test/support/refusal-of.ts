/** The words that something is refused with. */
export async function refusalOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => 'it was not refused',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}
