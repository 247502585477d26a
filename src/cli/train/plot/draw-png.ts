import type * as Resvg from '@resvg/resvg-js';
import { PAGE } from './chart-option';

/** Twice the page, for screens with fine pixels. */
const SCALE = 2;

/**
 * Turns a picture into PNG, with the fonts of this machine.
 *
 * @throws Error that says how to install resvg, where it is not there
 */
export async function drawPng(svg: string): Promise<Buffer> {
  const { Resvg: Renderer } = await importResvg();
  const image = new Renderer(svg, { fitTo: { mode: 'width', value: PAGE.width * SCALE } });
  return image.render().asPng();
}

/** Loaded when it is first needed: it is an optional peer dependency. */
async function importResvg(): Promise<typeof Resvg> {
  try {
    return await import('@resvg/resvg-js');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `PNG is made by the package @resvg/resvg-js, which cannot be loaded; install it with "npm install @resvg/resvg-js@2" (${reason})`,
      { cause: error },
    );
  }
}
