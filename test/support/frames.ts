/** Yields the frames of an event stream until it ends or breaks. */
export async function* framesOf({ body }: Response): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const frames = (text + chunk).split('\n\n');
    text = frames.pop() ?? '';
    yield* frames;
  }
}

/** Returns a field of a frame; an empty text if it has none. */
export function fieldOf(frame: string, name: string): string {
  return new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1] ?? '';
}
