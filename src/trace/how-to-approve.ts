/** What a person types to let a waiting plan run, from any machine. */
export function howToApprove(id: string): string {
  return `temporal-conductor approve ${id} [--edit FILE | --reject REASON]`;
}
