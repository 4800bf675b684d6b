/** Shared by the Corefile formats. */
import type { RenderContext, Settings } from './format.ts';

/** What CoreDNS puts before a zone for each transport. */
const SCHEMES = { tls: 'tls://', https: 'https://' } as const;

export function corednsHead({ heading }: RenderContext): string {
  return `# ${heading}\n# Start: coredns -conf Corefile\n\n`;
}

/** The name of a zone's server block: its transport, the zone and the port. */
function blockName(zone: string, { port, encryption }: Settings): string {
  return `${encryption === undefined ? '' : SCHEMES[encryption.transport]}${zone}:${port}`;
}

/** The part of a server block in braces: the directives of every block, then the given ones. */
function blockBody({ address, coredns, encryption }: Settings, plugins: string): string {
  const tls =
    encryption === undefined ? '' : `  tls "${encryption.certificateFile}" "${encryption.keyFile}"\n`;
  const multisocket = coredns.multisocket === undefined ? '' : `  multisocket ${coredns.multisocket}\n`;
  return `{\n  bind ${address}\n${tls}${multisocket}${coredns.cache ? '  cache\n' : ''}${plugins}}\n`;
}

/** A server block for one zone. */
export function corednsBlock(zone: string, settings: Settings, plugins: string): string {
  return `${blockName(zone, settings)} ${blockBody(settings, plugins)}`;
}

/** One server block for all zones. */
export function corednsBlockForAll(context: RenderContext, plugins: string): Iterable<string> {
  const { settings, eachZone } = context;
  const tail = blockBody(settings, plugins);
  return eachZone(({ name }) => `${blockName(name, settings)} `, { head: corednsHead(context), tail });
}
