import { toConversation } from '../../../src/activities/models/model';

test('one system text, and turns that alternate', () => {
  expect(
    toConversation([
      { role: 'user', text: 'a' },
      { role: 'system', text: 's' },
      { role: 'user', text: 'b' },
      { role: 'assistant', text: 'c' },
      { role: 'assistant', text: 'd' },
      { role: 'system', text: 't' },
      { role: 'user', text: 'e' },
    ]),
  ).toEqual({
    system: 's\n\nt',
    turns: [
      { role: 'user', text: 'a\n\nb' },
      { role: 'assistant', text: 'c\n\nd' },
      { role: 'user', text: 'e' },
    ],
  });
});

test('no messages, no turns', () => {
  expect(toConversation([])).toEqual({ system: '', turns: [] });
});
