/** Asks the server again and again until the answer fits. Each look is a request of its own, so nothing spins. */
export async function until<T>(look: () => Promise<T>, fits: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await look();
    if (fits(found)) return found;
  }
}
