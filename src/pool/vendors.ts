import type { ModelProvider } from './card';

/** Where a vendor itself serves, and the variable its own tools read the key from. */
interface Vendor {
  readonly endpoint: string;
  readonly apiKeyEnv: string;
}

/** The vendors whose models this package can call without being told an address. */
export const VENDORS: Readonly<Record<Exclude<ModelProvider, 'local' | 'policy'>, Vendor>> = {
  openai: { endpoint: 'https://api.openai.com', apiKeyEnv: 'OPENAI_API_KEY' },
  anthropic: { endpoint: 'https://api.anthropic.com', apiKeyEnv: 'ANTHROPIC_API_KEY' },
  google: { endpoint: 'https://generativelanguage.googleapis.com', apiKeyEnv: 'GEMINI_API_KEY' },
};
