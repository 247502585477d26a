// What the clients here have in common.

export const { GATEWAY_URL: url, GATEWAY_KEY: apiKey, GATEWAY_MODEL: model } = process.env;

/**
 * Asks in several ways at once, each with its name at the end of the question, and prints what came of each by its name:
 * `{ text, tokens }`, or `{ error }`.
 */
export async function report(ways) {
  const outcomes = Object.entries(ways).map(async ([name, ask]) => [name, await outcomeOf(name, ask)]);
  console.log(JSON.stringify(Object.fromEntries(await Promise.all(outcomes))));
}

async function outcomeOf(name, ask) {
  try {
    return await ask(`${process.env.GATEWAY_QUESTION} (${name})`);
  } catch (error) {
    return { error: String(error) };
  }
}
