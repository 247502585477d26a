/** What the operator wants to be minded, oldest first, as the Conductor is told it; empty where there is nothing. */
export function hintsOf(hints: readonly string[] = []): string {
  if (hints.length === 0) return '';
  return ['The person who asked wants you to mind this:', ...hints.map((hint) => `- ${hint}`)].join('\n');
}
