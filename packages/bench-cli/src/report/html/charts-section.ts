/** The charts of the page: each a figure that can be explored by pointer and by keyboard. */
import { embeddedSvg } from '../charts/index.ts';
import { type Html, html, prose, trusted } from './markup.ts';
import type { PageData } from './page-data.ts';
import { serverSign } from './signs.ts';

export function chartsSection(page: PageData): Html {
  const { drawn, missing } = page.plots;
  const figures = drawn.map(
    (plot) => html`<figure class="card chart" id="chart-${plot.name}">
<h3>${plot.title}</h3>
<div class="plot" tabindex="0" role="application" aria-roledescription="chart" aria-label="${plot.title}. ${plot.caption} Arrow keys move from figure to figure.">${trusted(embeddedSvg(plot))}</div>
<figcaption>${prose(plot.caption)}</figcaption>
</figure>`,
  );
  const chips = page.charts.servers.map(
    ({ title, server }, index) =>
      html`<button type="button" class="chip" aria-pressed="true" data-server="${index}">${serverSign(page, server)}${title}</button>`,
  );
  return html`<section id="charts"><h2>Charts</h2>
<div class="servers" role="group" aria-label="Servers shown"><span class="hint needs-script">Servers, click to hide:</span> ${chips}</div>
<div class="figures">${figures}</div>
${
  missing.length > 0 &&
  html`<p class="missing">Omitted for lack of data: ${missing.map(({ title, reason }, index) => `${index === 0 ? '' : '; '}“${title}”, because ${reason}`)}.</p>`
}
</section>`;
}
