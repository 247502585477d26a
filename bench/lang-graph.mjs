import { randomUUID } from 'node:crypto';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { callsTo } from './plain.mjs';

/**
 * The four calls as a graph whose every step is in SQLite (WAL, its commits safe from a killed process) before the next
 * one begins. The graph is fixed, which a plan written at run time is not: a little in LangGraph's favour.
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
