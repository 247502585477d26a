import { randomUUID } from 'node:crypto';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { callsTo } from './plain.mjs';

/**
 * Runs the four calls as a graph that commits each step to SQLite before the next one begins (WAL, whose commits
 * survive a killed process). The graph is fixed, unlike a plan written at run time, which slightly favours LangGraph.
 */
export function openLangGraph(url, file) {
  const ask = callsTo(url);
  const text = Annotation();
  const saver = SqliteSaver.fromConnString(file);
  const graph = new StateGraph(Annotation.Root({ plan: text, a: text, b: text, answer: text }))
    .addNode('write', async () => ({ plan: await ask('conductor', 'Write a plan.') }))
    .addNode('first', async ({ plan }) => ({ a: await ask('a', `${plan} First half.`) }))
    .addNode('second', async ({ plan }) => ({ b: await ask('b', `${plan} Second half.`) }))
    .addNode('both', async ({ a, b }) => ({ answer: await ask('c', `${a} ${b} Both halves together.`) }))
    .addEdge(START, 'write')
    .addEdge('write', 'first')
    .addEdge('write', 'second')
    .addEdge(['first', 'second'], 'both')
    .addEdge('both', END)
    .compile({ checkpointer: saver });
  return {
    run: () => graph.invoke({}, { configurable: { thread_id: randomUUID() }, durability: 'sync' }),
    close: () => saver.db.close(),
  };
}
