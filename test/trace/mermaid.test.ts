import { renderMermaid } from '../../src/trace/mermaid';
import { sampleFamily } from './sample-family';
import { sampleToolCall, sampleTrace, sampleTurns, withStep } from './sample-trace';

describe('the flowchart of a run', () => {
  test('has a node for each step and an arrow for each output it may see', () => {
    expect(renderMermaid(sampleTrace({ answer: 'Paris' })).split('\n')).toEqual([
      'flowchart TD',
      '  question(["What is the capital of France?"])',
      '  round1step1["1 gpt<br/>Find the capital"]:::done',
      '  question --> round1step1',
      '  round1step2["2 haiku for sonnet<br/>Check it<br/>worker haiku declined."]:::failed',
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

  test('counts the calls of tools of a step', () => {
    const turns = sampleTurns('gpt', [sampleToolCall(), sampleToolCall()], [sampleToolCall()]);
    expect(renderMermaid(withStep(sampleTrace(), 0, { turns }))).toContain(
      'round1step1["1 gpt #183; 3 tool calls<br/>Find the capital"]:::done',
    );
  });

  test('draws a child as a box around its steps, and reviews one below another', () => {
    const lines = renderMermaid(sampleFamily()).split('\n').slice(1, -4);
    expect(lines).toEqual([
      '  question(["What is the capital of France?"])',
      '  round1step1["1 gpt<br/>Task 1"]:::done',
      '  question --> round1step1',
      '  subgraph round1step2["2 conductor<br/>Task 2"]',
      '    round2step1["1 gpt<br/>Task 1"]:::done',
      '    round2step2["2 gpt<br/>Task 2"]:::done',
      '  end',
      '  class round1step2 done',
      '  question --> round1step2',
      '  round3step1["1 gpt<br/>Task 1"]:::done',
      '  round1step2 --> round3step1',
      '  round4{{"review<br/>accepts the answer"}}:::done',
      '  round3step1 --> round4',
      '  answer(["Paris, of course."])',
      '  round4 --> answer',
    ]);
  });

  test('links the answer to no failed round', () => {
    const [own, child, review] = sampleFamily().rounds;
    if (!own || !child || !review) throw new Error('the sample has lost its rounds');
    const rounds = [own, child, { ...review, decision: 'failed' as const }];
    expect(renderMermaid(sampleFamily({ rounds }))).toContain('  round1step2 --> answer');
  });

  test('escapes texts so that they cannot become syntax', () => {
    const question = '"]); style a fill:#f00; <b>&amp; `x` [y]{z}|';
    const [, node = ''] = renderMermaid(sampleTrace({ question, rounds: [] })).split('\n');
    const label = /^ {2}question\(\["(.*)"\]\)$/.exec(node)?.[1] ?? '';
    expect(label.replace(/#\d+;/g, '')).toMatch(/^[\w ,.]*$/);
    expect(decode(label)).toBe(question);
  });

  test.each([
    ['- a list', '#45; a list'],
    ['1. a list', '1#46; a list'],
  ])('%s is not read as a list by Mermaid', (question, expected) => {
    expect(renderMermaid(sampleTrace({ question }))).toContain(`(["${expected}"])`);
  });
});

/** Decodes a label as Mermaid does. */
function decode(label: string): string {
  return label.replace(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
