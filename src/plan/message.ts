/** One message of a conversation with a model, in no vendor's dialect. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
}

/** A JSON schema (2020-12 subset: objects, arrays, strings, integers) with the name vendors ask for. */
export interface OutputSchema {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
}
