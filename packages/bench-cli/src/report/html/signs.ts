/** The sign of a series, its colour and shape, as in every chart. */
import { type ChartServer, legendSign } from '../charts/index.ts';
import { type Html, html, trusted } from './markup.ts';

/** Nothing for what is in no chart. */
export function serverSign(servers: readonly ChartServer[], server: string): Html {
  const found = servers.find(({ name }) => name === server);
  if (found === undefined) return html``;
  return html`<svg class="sign" viewBox="-8 -8 16 16" aria-hidden="true">${trusted(legendSign(found, 6))}</svg>`;
}
