import { readThoughts } from '../plan/thoughts/read-thoughts';
import { type SentRequest, type Ended, judgeReply } from './models/failure';
import type { ModelReply } from './models/model';

/**
 * Takes the thoughts out of a worker's reply before anything reads it: later steps, the answer schema, graders and
 * people get the answer alone. Thoughts without an answer are a failure, whatever the server said.
 */
export function withThoughtsApart(ended: Ended, asked: SentRequest): Ended {
  if (ended.reply === null) return ended;
  const reply = takeApart(ended.reply);
  return ended.kind === 'answered' ? judgeReply(reply, asked) : { ...ended, reply };
}

function takeApart(reply: ModelReply): ModelReply {
  const { answer, thoughts } = readThoughts(reply.text);
  const all = [reply.thoughts ?? '', thoughts].map((each) => each.trim()).filter((each) => each !== '');
  return { ...reply, text: answer, ...(all.length > 0 && { thoughts: all.join('\n\n') }) };
}
