// What each client here has in common.

export const {
  GATEWAY_URL: url,
  GATEWAY_KEY: apiKey,
  GATEWAY_MODEL: model,
  GATEWAY_QUESTION: question,
} = process.env;

/**
 * Asks for a whole answer and for a streamed one at once, and prints what came of each, as `{ text, tokens }` or `{ error }`.
 * @param askWhole null for a client that only streams
 */
export async function report(askWhole, askStreamed) {
  const asked = { ...(askWhole && { whole: askWhole }), streamed: askStreamed };
  const outcomes = Object.entries(asked).map(async ([name, ask]) => [name, await outcomeOf(ask)]);
  console.log(JSON.stringify(Object.fromEntries(await Promise.all(outcomes))));
}

async function outcomeOf(ask) {
  try {
    return await ask();
  } catch (error) {
    return { error: String(error) };
  }
}
