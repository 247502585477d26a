/** Settings of a model that is never asked. */
export const CARD = {
  provider: 'openai',
  model: 'gpt-x',
  apiKeyEnv: 'KEY',
  price: { input: 1, output: 2 },
} as const;
