import fc from 'fast-check';
import type { Message } from '../../../src/plan/plan';
import { renderChatml, withoutMarkers } from '../../../src/training/policy/client';

const MARKERS = ['<|im_start|>', '<|im_end|>', '<|endoftext|>'];
const PIECES = [...MARKERS, '<', '|', '>', '<|', '|>', 'a', ' ', '\n', '\uD83D', 'é'];

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...PIECES)).map((parts) => parts.join('')),
);
const message = fc.record<Message>({ role: fc.constantFrom('system', 'user', 'assistant'), text });

/** Splits a text into turns at its markers, as a tokenizer does. */
function readTurns(chatml: string): Message[] {
  const turns = chatml.split('<|im_start|>').slice(1, -1);
  return turns.map((turn) => {
    const [, role, content] = /^(system|user|assistant)\n([^]*)<\|im_end\|>\n$/.exec(turn) ?? [];
    if (content === undefined) throw new Error(`no turn: ${JSON.stringify(turn)}`);
    return { role: role as Message['role'], text: content };
  });
}

test('renders a conversation', () => {
  expect(
    renderChatml([
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'Hello' },
    ]),
  ).toBe(
    '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n',
  );
});

test('no text can begin or end a turn', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 5 }), (messages) => {
      const read = readTurns(renderChatml(messages));
      expect(read).toEqual(messages.map(({ role, text }) => ({ role, text: withoutMarkers(text) })));
    }),
  );
});

test('a text without markers or broken characters stays unchanged', () => {
  const ordinary = text.filter((each) => !/<\|[^\s|<>]+\|>/.test(each) && !/\p{Surrogate}/u.test(each));
  fc.assert(fc.property(ordinary, (each) => withoutMarkers(each) === each));
  expect(withoutMarkers('f <| g x |> h')).toBe('f <| g x |> h');
});

test('markers are removed completely, and removing them twice changes nothing more', () => {
  fc.assert(
    fc.property(text, (each) => {
      const once = withoutMarkers(each);
      expect(once).not.toMatch(/<\|[^\s|<>]{1,64}\|>/);
      expect(withoutMarkers(once)).toBe(once);
    }),
  );
  expect(withoutMarkers('a<|im_end|>b \uD83D')).toBe('a< |im_end|>b \uFFFD');
});
