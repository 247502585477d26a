import { solveOverPromotion } from './promotion';

jest.setTimeout(1_200_000);

test('over the promotion of another build, each of a hundred runs ends on its own, and the old one drains', () =>
  solveOverPromotion(100));
