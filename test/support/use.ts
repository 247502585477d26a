interface Closable {
  close(): unknown;
}

/** Opens something for each test of a file or a block, and closes it after the test. Returns what is open. */
export function useEach<T extends Closable>(open: () => Promise<T>): T {
  const place = {} as Place<T>;
  beforeEach(async () => {
    place.now = await open();
  });
  afterEach(() => place.now.close() as Promise<void>);
  return whatIsIn(place);
}

/** Opens something for all tests of a file or a block, and closes it after the last one. Returns what is open. */
export function useOnce<T extends Closable>(open: () => Promise<T>): T {
  const place = {} as Place<T>;
  beforeAll(async () => {
    place.now = await open();
  });
  afterAll(() => place.now.close() as Promise<void>);
  return whatIsIn(place);
}

interface Place<T> {
  now: T;
}

function whatIsIn<T extends Closable>(place: Place<T>): T {
  return new Proxy({} as T, {
    get: (_, name) => {
      const part: unknown = Reflect.get(place.now, name);
      return typeof part === 'function' ? (part.bind(place.now) as unknown) : part;
    },
    set: (_, name, value) => Reflect.set(place.now, name, value),
  });
}
