import { keepMade } from '../../../../src/activities/models/local-engine';

describe('keepMade', () => {
  it('makes a thing once, for all who ask', async () => {
    const make = jest.fn(() => Promise.resolve({}));
    const get = keepMade(make);
    const [one, two] = await Promise.all([get(), get()]);
    expect(one).toBe(two);
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('tries again after a failure', async () => {
    const make = jest.fn(() => Promise.resolve('made'));
    make.mockRejectedValueOnce(new Error('no file yet'));
    const get = keepMade(make);
    await expect(get()).rejects.toThrow('no file yet');
    await expect(get()).resolves.toBe('made');
  });
});
