import type { ModelProvider } from '../../pool/card';
import { completeAnthropic } from './anthropic';
import { completeGoogle } from './google';
import { completeLocal } from './local';
import type { Complete } from './model';
import { completeOpenAI } from './openai';

const PROVIDERS: Readonly<Record<ModelProvider, Complete>> = {
  openai: completeOpenAI,
  anthropic: completeAnthropic,
  google: completeGoogle,
  local: completeLocal,
};

/** Asks the model that the request's card names, through its provider. A vendor's SDK is loaded by its first request. */
export const complete: Complete = (request) => PROVIDERS[request.card.provider](request);
