/** Several small charts in one, one for each point of the matrix, with the same axes. */
import { FILE_LOOK, type Look } from './chart.ts';

/** The grid of panels. On a page and on a card, which may be as narrow as a phone, few panels stand one below the other. */
export function panelGrid(groups: readonly unknown[], look: Look) {
  const narrow = groups.length <= 3 ? 1 : 2;
  const most = look.standalone && look.width >= FILE_LOOK.width ? 3 : narrow;
  // Four panels in a row of three and one would leave two empty places, each with an axis.
  const columns = Math.max(1, groups.length === 4 ? Math.min(2, most) : Math.min(groups.length, most));
  // Beside the panels: the axis of the left one and the space between them.
  const outside = 4 + look.fontSize * 5.6 + (columns - 1) * 22;
  return {
    columns,
    width: Math.floor((look.width - outside) / columns),
    height: Math.round(columns === 1 ? look.height * 0.66 : look.height * 0.5),
    spacing: { row: 26, column: 22 },
  };
}

/** The field that facets a chart by group, in the order of the groups. */
export function panelFacet(groups: readonly { readonly title: string }[]) {
  return {
    field: 'panel',
    type: 'nominal' as const,
    sort: groups.map(({ title }) => title),
    title: null,
  };
}
