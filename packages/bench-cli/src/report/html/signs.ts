/** Small symbols that are explained elsewhere: a server's colour and shape, a mark. */
import { legendSign } from '../charts/index.ts';
import type { Mark } from '../marks.ts';
import { type Html, html, trusted } from './markup.ts';
import type { PageData } from './page-data.ts';

/** The sign that a server has in every chart. */
export function serverSign(
  { charts }: { readonly charts: Pick<PageData['charts'], 'servers'> },
  server: string,
): Html {
  const found = charts.servers.find((candidate) => candidate.server === server);
  if (found === undefined) return html``;
  return html`<svg class="sign" viewBox="-8 -8 16 16" aria-hidden="true">${trusted(legendSign(found, 6))}</svg>`;
}

/** A mark that explains itself on hover and on focus. */
export function markSign(mark: Mark): Html {
  const text = mark.symbol === null ? mark.label : `${mark.symbol} ${mark.label}`;
  return html`<button type="button" class="mark ${mark.name}" data-tip="${mark.explanation}">${text}</button>`;
}
