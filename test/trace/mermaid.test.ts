import { renderMermaid } from '../../src/trace/mermaid';
import { sampleTrace } from './sample-trace';

describe('the flowchart of a run', () => {
  test('has a node for each step and an arrow for each output it may see', () => {
    expect(renderMermaid(sampleTrace({ answer: 'Paris' })).split('\n')).toEqual([
      'flowchart TD',
      '  question(["What is the capital of France?"])',
      '  round1step1["1 gpt<br/>Find the capital"]:::done',
      '  question --> round1step1',
      '  round1step2["2 haiku for sonnet<br/>Check it"]:::failed',
      '  question --> round1step2',
      '  round1step3["3 gpt<br/>Combine"]:::waiting',
      '  round1step1 --> round1step3',
      '  round1step2 --> round1step3',
      '  answer(["Paris"])',
      '  round1step3 --> answer',
      '  classDef done stroke:green',
      '  classDef failed stroke:red',
      '  classDef running stroke:orange',
      '  classDef waiting stroke-dasharray:4',
    ]);
  });

  test('a text cannot become syntax', () => {
    const question = '"]); style a fill:#f00; <b>&amp; `x` [y]{z}|';
    const [, node = ''] = renderMermaid(sampleTrace({ question, rounds: [] })).split('\n');
    const label = /^ {2}question\(\["(.*)"\]\)$/.exec(node)?.[1] ?? '';
    expect(label.replace(/#\d+;/g, '')).toMatch(/^[\w ,.]*$/);
    expect(decode(label)).toBe(question);
  });

  test.each([
    ['- a list', '#45; a list'],
    ['1. a list', '1#46; a list'],
  ])('%s is no list to Mermaid', (question, expected) => {
    expect(renderMermaid(sampleTrace({ question }))).toContain(`(["${expected}"])`);
  });
});

/** As Mermaid reads a label. */
function decode(label: string): string {
  return label.replace(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
