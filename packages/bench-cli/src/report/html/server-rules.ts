/** Style rules that hide or highlight one server in every chart, by its unique colour. */
import type { ChartServer } from '../charts/index.ts';

function marksOf({ color }: ChartServer): string {
  return `.plot :is([fill="${color}"],[stroke="${color}"])`;
}

/** `hide-N` and `bring-N` are classes of the body; N is the server's place. */
export function serverRules(servers: readonly ChartServer[]): string {
  return servers
    .map((server, index) => {
      const others = servers
        .filter((other) => other !== server)
        .map((other) => `.bring-${index} ${marksOf(other)}`);
      const fade = others.length === 0 ? '' : `${others.join(',')}{opacity:.12}`;
      return `.hide-${index} ${marksOf(server)}{display:none}${fade}`;
    })
    .join('\n');
}
