/** Charts as PNG, on machines without fonts too: the font comes with this program (Inter, SIL Open Font License). */
import { fileURLToPath } from 'node:url';
import { collectGarbage } from '../collect.ts';

const FONT_FILES = ['400Regular/Inter_400Regular.ttf', '600SemiBold/Inter_600SemiBold.ttf'].map((path) =>
  fileURLToPath(import.meta.resolve(`@expo-google-fonts/inter/${path}`)),
);

/** Pixels of the image per pixel of the chart: sharp on high-resolution screens. */
const ZOOM = 1.6;

/** The picture of an SVG that `standaloneSvg` made. */
export async function pngOf(svg: string): Promise<Uint8Array> {
  const { Resvg } = await import('@resvg/resvg-js');
  const resvg = new Resvg(svg, {
    fitTo: { mode: 'zoom', value: ZOOM },
    font: { loadSystemFonts: false, fontFiles: FONT_FILES, defaultFontFamily: 'Inter' },
  });
  const png = new Uint8Array(resvg.render().asPng());
  // A drawing keeps about 12 MB until its small wrapper is collected; V8 does not know of them, so it does not hurry.
  collectGarbage('minor');
  return png;
}
