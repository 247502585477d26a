// What the clients here have in common.

export const {
  GATEWAY_URL: url,
  GATEWAY_KEY: apiKey,
  GATEWAY_MODEL: model,
  GATEWAY_QUESTION: question,
} = process.env;

/** Asks in several ways at once, and prints what came of each by its name: `{ text, tokens }`, or `{ error }`. */
export async function report(ways) {
  const outcomes = Object.entries(ways).map(async ([name, ask]) => [name, await outcomeOf(ask)]);
  console.log(JSON.stringify(Object.fromEntries(await Promise.all(outcomes))));
}

async function outcomeOf(ask) {
  try {
    return await ask();
  } catch (error) {
    return { error: String(error) };
  }
}
