import { isRecord } from '../../plan/validate';
import type { AnswerSchema } from '../../protocol/answer-schema';
import { CONDUCTOR_MODEL } from '../../protocol/rights';
import type { SurfaceQuestion } from './surface-question';

type Asked = Pick<
  SurfaceQuestion,
  'model' | 'messages' | 'functions' | 'answerSchema' | 'tool' | 'handed' | 'extension'
>;

/** How a client asks for the title of a session. */
interface TitleForm {
  /** Whether a client is this one, by the beginning of its `User-Agent`. */
  readonly client: string;
  readonly isAsked: (asked: Asked) => boolean;
}

/** As Claude Code 2.1.197 and OpenCode 1.18.33 were seen to ask. Other requests beside a user's are not told apart. */
const TITLE_FORMS: readonly TitleForm[] = [
  {
    client: 'claude-cli/',
    isAsked: ({ messages, answerSchema }) => {
      const [session, ...others] = messages.filter(({ role }) => role !== 'system');
      if (session === undefined || others.length > 0) return false;
      return isOfTitle(answerSchema) && /^<session>\n[^]*<\/session>/.test(session.content);
    },
  },
  {
    client: 'opencode/',
    isAsked: ({ messages: [instructions, request], answerSchema }) =>
      answerSchema === undefined &&
      instructions?.role === 'system' &&
      instructions.content.startsWith('You are a title generator.') &&
      request?.content.trim() === 'Generate a title for this conversation:',
  },
];

/** Whether the only thing that fits a schema is a title. */
function isOfTitle(schema: AnswerSchema | undefined): boolean {
  const { title, ...others } = isRecord(schema?.properties) ? schema.properties : {};
  return isRecord(title) && title.type === 'string' && Object.keys(others).length === 0;
}

/**
 * Whether a coding agent asks the Conductor for something beside what its user asks: the title of a session. All must
 * fit, the client, what it leaves out and what it wants, since an answer to a user must have a plan.
 * @param client the header `User-Agent`
 */
export function isSideRequest(asked: Asked, client = ''): boolean {
  const { model, functions, tool, handed, extension } = asked;
  if (model !== CONDUCTOR_MODEL || functions.tools.length > 0 || tool !== undefined) return false;
  if (handed !== undefined || Object.keys(extension).length > 0) return false;
  return TITLE_FORMS.some((form) => client.startsWith(form.client) && form.isAsked(asked));
}
