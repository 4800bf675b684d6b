/**
 * Colours of charts. Vega writes them as attributes (`fill="#334155"`), and CSS overrides attributes: that is how one
 * SVG adapts to light and dark. Every colour has only one use, so that a rule matches exactly what it means.
 */

interface Shades {
  readonly light: string;
  readonly dark: string;
}

export const SURFACE: Shades = { light: '#ffffff', dark: '#0f172a' };
export const INK: Shades = { light: '#1e293b', dark: '#e2e8f0' };
export const MUTED: Shades = { light: '#5b677a', dark: '#a3b0c2' };
export const GRID: Shades = { light: '#e5e9f0', dark: '#2b384e' };
/** The band of the noise floor. */
export const NOISE: Shades = { light: '#d3dae4', dark: '#3b485d' };

/**
 * Servers in the order of the run; the baseline comes first and is grey. At least 3:1 against the surface in
 * both themes (WCAG 2.2, 1.4.11), and apart in lightness as well as in hue for readers who are colour-blind.
 */
const SERVERS: readonly Shades[] = [
  { light: '#64748b', dark: '#94a3b8' },
  { light: '#c2570c', dark: '#fb923c' },
  { light: '#0b66c3', dark: '#60a5fa' },
  { light: '#0b7a55', dark: '#34d399' },
  { light: '#8333c4', dark: '#c58afc' },
  { light: '#94700a', dark: '#eac22f' },
  { light: '#bd1b62', dark: '#f472b6' },
  { light: '#0b7285', dark: '#22d3ee' },
];

/** Shapes of the points, as a second sign beside the colour. */
const SHAPES = [
  'circle',
  'square',
  'triangle-up',
  'diamond',
  'cross',
  'triangle-down',
  'triangle-right',
  'triangle-left',
];

function hex(channel: number): string {
  return Math.round(channel * 255)
    .toString(16)
    .padStart(2, '0');
}

/** Hue in degrees, saturation and lightness in [0, 1] (CSS Color 4, section 7.1). */
function fromHsl(hue: number, saturation: number, lightness: number): string {
  const channel = (offset: number) => {
    const k = (offset + hue / 30) % 12;
    return (
      lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1))
    );
  };
  return `#${hex(channel(0))}${hex(channel(8))}${hex(channel(4))}`;
}

/** Colour and shape of the server at this position in the run. Beyond the palette, hues are a golden angle apart. */
export function serverStyle(index: number): Shades & { readonly shape: string } {
  const hue = (index * 137.508) % 360;
  const shades = SERVERS[index] ?? { light: fromHsl(hue, 0.65, 0.36), dark: fromHsl(hue, 0.7, 0.68) };
  return { ...shades, shape: SHAPES[index % SHAPES.length] ?? 'circle' };
}

function shadesOf(servers: number): Shades[] {
  return [SURFACE, INK, MUTED, GRID, NOISE, ...Array.from({ length: servers }, (_, i) => serverStyle(i))];
}

/** Rules that turn the light colours of charts within `selector` into dark ones. */
export function darkRules(servers: number, selector = ''): string {
  const scope = selector === '' ? '' : `${selector} `;
  return shadesOf(servers)
    .map(
      ({ light, dark }) =>
        `${scope}[fill="${light}"]{fill:${dark}}${scope}[stroke="${light}"]{stroke:${dark}}`,
    )
    .join('\n');
}

/** The same chart in dark colours, for bitmaps, which have no CSS. */
export function darkened(svg: string, servers: number): string {
  const dark = new Map(shadesOf(servers).map((shade) => [shade.light, shade.dark]));
  return svg.replaceAll(/(fill|stroke)="(#[0-9a-f]{6})"/g, (whole, name: string, color: string) => {
    const other = dark.get(color);
    return other === undefined ? whole : `${name}="${other}"`;
  });
}
