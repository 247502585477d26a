import { freshStore } from '../local/fresh-folder';
import { anActivity, attempt, Provider } from './one-call';

const mockOrder: string[] = [];
jest.mock('@google/genai', () => {
  mockOrder.push('the SDK is loaded');
  return {};
});

test("a new process loads its SDK before a model's rate is asked, since the request has to follow at once", async () => {
  const pacing = (): Promise<never> => {
    mockOrder.push('the rate is asked');
    return Promise.reject(new Error('there is no room'));
  };
  const { complete } = new Provider();
  await expect(attempt(await freshStore(), complete, anActivity(), pacing, 'google')).rejects.toThrow(
    'no room',
  );
  expect(mockOrder).toEqual(['the SDK is loaded', 'the rate is asked']);
});
