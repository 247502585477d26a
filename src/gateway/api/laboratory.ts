// Areas that are loaded on first use: a gateway that only answers chats never needs them.
import type * as QuestionSets from '../../evaluation/activities';
import type * as Evaluation from '../../evaluation/definitions';
import type * as Reports from '../../evaluation/report';
import type * as Training from '../../training/client';

export const loadTraining = (): Promise<typeof Training> => import('../../training/client/index.js');
export const loadReports = (): Promise<typeof Reports> => import('../../evaluation/report/index.js');
export const loadEvaluation = (): Promise<typeof Evaluation> => import('../../evaluation/definitions.js');
export const loadQuestionSets = (): Promise<typeof QuestionSets> =>
  import('../../evaluation/activities/index.js');
