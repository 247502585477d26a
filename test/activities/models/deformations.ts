/** A reply to deform: its events, of which `[DONE]` is a text, or its body as the only one. */
export interface Reply {
  readonly isStream: boolean;
  readonly events: readonly unknown[];
  /**
   * What would show if it were lost: anything in a whole answer, and how it ended in a cut one, whose count tells it.
   * Nothing but its word for it tells that a text was refused, or is a thought.
   */
  readonly shows: 'all' | 'ending' | 'none';
}

/** Draws a number below a bound. */
export type Draw = (below: number) => number;

type Deform = (reply: Reply, draw: Draw) => readonly Buffer[] | null;

export interface Deformation {
  readonly name: string;
  /** Whether the reply still means the same. Otherwise its outcome may also be a failure, or a usage unknown. */
  readonly isHarmless: boolean;
  /** Returns the chunks to send; null if it does not apply. */
  readonly chunks: Deform;
}

type Path = readonly (string | number)[];
interface Place {
  readonly path: Path;
  readonly key: string;
  readonly value: unknown;
}

/** Fields whose text is a part of what the model wrote: without one, nothing tells that it was there. */
const WRITTEN = new Set(
  'content text refusal reasoning reasoning_content thinking delta summary explanation'.split(' '),
);
/** Fields that alone tell how a reply ended, or what a text in it is. */
const TELLING = new Set(
  'finish_reason stop_reason finishReason incomplete_details reason status phase type thought error'.split(
    ' ',
  ),
);
/** Fields that tell how a reply ended. */
const ENDING = new Set('finish_reason stop_reason finishReason incomplete_details reason status'.split(' '));
const TELLING_OF_REFUSALS = new Set(
  'promptFeedback blockReason blockReasonMessage stop_details message'.split(' '),
);
/** Counts that are a part of others, and that only some replies have. */
const OPTIONAL_COUNT = /cache|total|details|reasoning|cost|tier|ticks|byok/i;
const USAGE = /^(?:usage|usageMetadata)$/;

const DONE = '[DONE]';

function line(event: unknown): string {
  return typeof event === 'string' ? event : JSON.stringify(event);
}

function asStream(events: readonly unknown[]): string {
  return events.map((event) => `data: ${line(event)}\n\n`).join('');
}

function written({ isStream, events }: Reply): string {
  return isStream ? asStream(events) : line(events[0]);
}

/** Deforms the events or the body themselves. */
function ofValues(
  name: string,
  isHarmless: boolean,
  change: (reply: Reply, draw: Draw) => readonly unknown[] | null,
): Deformation {
  return {
    name,
    isHarmless,
    chunks: (reply, draw) => {
      const events = change(reply, draw);
      return events && [Buffer.from(written({ ...reply, events }))];
    },
  };
}

/** Deforms how a reply is written. */
function ofText(
  name: string,
  isHarmless: boolean,
  write: (reply: Reply, draw: Draw) => string | null,
): Deformation {
  return {
    name,
    isHarmless,
    chunks: (reply, draw) => {
      const text = write(reply, draw);
      return text === null ? null : [Buffer.from(text)];
    },
  };
}

const ofStreams =
  (write: (events: readonly unknown[], draw: Draw) => string) => (reply: Reply, draw: Draw) =>
    reply.isStream ? write(reply.events, draw) : null;

function placesIn(value: unknown, path: Path = []): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    return [{ path: here, key, value: each }, ...placesIn(each, here)];
  });
}

function hasWriting(value: unknown, key = ''): boolean {
  if (typeof value === 'string') return value !== '' && (WRITTEN.has(key) || TELLING_OF_REFUSALS.has(key));
  if (typeof value !== 'object' || value === null) return false;
  const inList = Array.isArray(value) ? key : null;
  return Object.entries(value).some(([name, each]) => hasWriting(each, inList ?? name));
}

/** Returns a copy of the events in which one place holds something else; `undefined` takes it out. */
function withOther(events: readonly unknown[], path: Path, value: unknown): unknown[] {
  const copy: unknown[] = structuredClone([...events]);
  let parent: unknown = copy;
  for (const key of path.slice(0, -1)) parent = Reflect.get(Object(parent) as object, key);
  const last = path.at(-1) ?? 0;
  if (value === undefined) Reflect.deleteProperty(parent as object, last);
  else Reflect.set(parent as object, last, value);
  return copy;
}

/** Changes one field that is drawn among those that may be changed. */
function ofField(
  name: string,
  mayChange: (place: Place, reply: Reply) => boolean,
  other: (place: Place, draw: Draw) => unknown,
): Deformation {
  return ofValues(name, false, (reply, draw) => {
    const places = placesIn(reply.events).filter((place) => place.path.length > 1 && mayChange(place, reply));
    const place = places[draw(Math.max(1, places.length))];
    return place === undefined ? null : withOther(reply.events, place.path, other(place, draw));
  });
}

/** Whether a field may be left out: what it says must be told by something else. */
function mayBeMissing({ path, key, value }: Place, { shows }: Reply): boolean {
  if (typeof path.at(-1) === 'number' || OPTIONAL_COUNT.test(key) || hasWriting(value, key)) return false;
  return !tells({ [key]: value }, shows);
}

/** Whether something in a value would be missed by nobody. */
function tells(value: unknown, shows: Reply['shows']): boolean {
  if (shows === 'all') return false;
  return placesIn(value).some(({ key, value: each }) => {
    if (each === null || each === '') return false;
    if (shows === 'ending' && ENDING.has(key)) return false;
    return TELLING.has(key) || TELLING_OF_REFUSALS.has(key);
  });
}

function otherType({ key, value }: Place, draw: Draw): unknown {
  const text = hasWriting(value, key) ? [] : ['seven'];
  const others = [7, true, [value], { 0: value }, ['seven', 7], ...text];
  const fitting = others.filter(
    (other) => typeof other !== typeof value || Array.isArray(value) !== Array.isArray(other),
  );
  return fitting[draw(fitting.length)];
}

const indexOfEvents = (reply: Reply, fits: (event: unknown) => boolean): number[] =>
  reply.isStream ? reply.events.flatMap((event, index) => (fits(event) ? [index] : [])) : [];

function withoutType(event: unknown): object {
  return { ...(Object(event) as object), type: null };
}

/** Events that may be lost, repeated or moved: nobody could tell it of a piece of text. */
function movable(reply: Reply): number[] {
  return indexOfEvents(
    reply,
    (event) => event !== DONE && !hasWriting(event) && !tells(withoutType(event), reply.shows),
  );
}

function deepMap(value: unknown, change: (fields: object) => object): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => deepMap(each, change));
  const fields = Object.entries(value).map(([key, each]) => [key, deepMap(each, change)] as const);
  return change(Object.fromEntries(fields));
}

const everywhere =
  (change: (fields: object) => object) =>
  ({ events }: Reply) =>
    events.map((event) => deepMap(event, change));

/** Divides the text of one event between two. */
function divided(reply: Reply, draw: Draw): unknown[] | null {
  const places = placesIn(reply.events).filter(
    ({ key, value, path }) =>
      WRITTEN.has(key) &&
      typeof value === 'string' &&
      value.length > 1 &&
      // Only a piece of a text may be divided, not what repeats or sums up all of it.
      /\.delta$|^content_block_delta$|^undefined$/.test(typeOf(reply.events[Number(path[0])])) &&
      !path.includes('part'),
  );
  const place = reply.isStream ? places[draw(Math.max(1, places.length))] : undefined;
  if (place === undefined) return null;
  const { path, value } = place;
  const index = Number(path[0]);
  const points = Array.from(String(value));
  const at = 1 + draw(points.length - 1);
  const halves = [points.slice(0, at), points.slice(at)].map(
    (half) => withOther(reply.events, path, half.join(''))[index],
  );
  return reply.events.toSpliced(index, 1, ...halves);
}

function typeOf(event: unknown): string {
  return String((Object(event) as { readonly type?: unknown }).type);
}

const inserted = (event: unknown, isHarmless: boolean, name: string): Deformation =>
  ofValues(name, isHarmless, ({ isStream, events }, draw) =>
    isStream ? events.toSpliced(draw(events.length), 0, event) : null,
  );

const escaped = (text: string): string =>
  text.replace(/[^\x20-\x7e\n]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const inPieces: Deform = (reply, draw) => {
  const bytes = Buffer.from(written(reply));
  const size = 1 + draw(40);
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
};

const brokenOff: Deform = (reply, draw) => {
  const bytes = Buffer.from(written(reply));
  return [bytes.subarray(0, draw(bytes.length))];
};

export const DEFORMATIONS: readonly Deformation[] = [
  { name: 'its bytes arrive one by one, or in pieces', isHarmless: true, chunks: inPieces },
  ofText(
    'its lines end as on Windows',
    true,
    ofStreams((events) => asStream(events).replaceAll('\n', '\r\n')),
  ),
  ofText(
    'its lines end in returns',
    true,
    ofStreams((events) => asStream(events).replaceAll('\n', '\r')),
  ),
  ofText(
    'comments stand between its events',
    true,
    ofStreams((events) =>
      events.map((event) => `: keep-alive\n\ndata: ${line(event)}\n: here, too\n\n`).join(''),
    ),
  ),
  ofText(
    'its events have ids, names and times',
    true,
    ofStreams((events) =>
      events.map((event, id) => `id: ${id}\nevent: message\nretry: 100\ndata: ${line(event)}\n\n`).join(''),
    ),
  ),
  ofText(
    'no blank follows its colons',
    true,
    ofStreams((events) => asStream(events).replaceAll(/^data: /gm, 'data:')),
  ),
  ofText('its JSON stands in several lines', true, ({ isStream, events }) => {
    const pretty = events.map((event) =>
      typeof event === 'string' ? event : JSON.stringify(event, null, 2),
    );
    if (!isStream) return pretty.join('');
    return pretty.map((text) => `${text.replaceAll(/^/gm, 'data: ')}\n\n`).join('');
  }),
  ofText('it begins with a byte order mark', true, (reply) => `\ufeff${written(reply)}`),
  ofText('its letters are escaped', true, (reply) => escaped(written(reply))),
  ofValues(
    'its fields come in the other order',
    true,
    everywhere((fields) => Object.fromEntries(Object.entries(fields).toReversed())),
  ),
  ofValues(
    'it has fields that nobody knows',
    true,
    everywhere((fields) => ({
      'x-new': { of: ['them'] },
      ...fields,
      x_newer: null,
    })),
  ),
  ofValues(
    'its nulls are left out',
    true,
    everywhere((fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))),
  ),
  ofValues('a piece of its text is divided', true, divided),
  inserted({ type: 'ping' }, true, 'an event that says nothing is among its events'),
  { name: 'it breaks off', isHarmless: false, chunks: brokenOff },
  ofValues('an event is lost', false, (reply, draw) => {
    const indexes = movable(reply);
    const index = indexes[draw(Math.max(1, indexes.length))];
    return index === undefined ? null : reply.events.toSpliced(index, 1);
  }),
  ofValues('an event comes twice', false, (reply, draw) => {
    const indexes = movable(reply);
    const index = indexes[draw(Math.max(1, indexes.length))];
    return index === undefined ? null : reply.events.toSpliced(index, 0, reply.events[index]);
  }),
  ofValues('two events change places', false, (reply, draw) => {
    const indexes = indexOfEvents(reply, (event) => !hasWriting(event)).filter((index) => index > 0);
    const index = indexes[draw(Math.max(1, indexes.length))];
    if (index === undefined) return null;
    return reply.events.toSpliced(index - 1, 2, reply.events[index], reply.events[index - 1]);
  }),
  ofField('a field is missing', mayBeMissing, () => undefined),
  ofField('a field is null', mayBeMissing, () => null),
  // Skips null fields: replacing a null finish reason would turn a cut-off answer into a complete one.
  ofField(
    'a field is of another type',
    ({ key, value }) => value !== null && !OPTIONAL_COUNT.test(key),
    otherType,
  ),
  ofField(
    'a count is none',
    ({ path, value }) => typeof value === 'number' && path.some((key) => USAGE.test(String(key))),
    (_, draw) => [-1, 0.5, 1e15, '5', 5e9][draw(5)],
  ),
  ofField(
    'a list is empty',
    ({ path, value }, { shows }) =>
      shows === 'all' && Array.isArray(value) && !hasWriting(value, String(path.at(-1))),
    () => [],
  ),
  inserted(
    { error: { message: 'Overloaded', type: 'overloaded_error', code: 529 } },
    false,
    'an error is among its events',
  ),
  inserted('<html>502 Bad Gateway</html>', false, 'a web page is among its events'),
  ofText('a web page comes in its place', false, () => '<html>502 Bad Gateway</html>'),
];
