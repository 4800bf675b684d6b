/** `bench servers`: the server kinds, and whether their programs are here. */
import { inspectTools, type ToolInspection } from '../doctor/inspect-tools.ts';
import { SERVER_KINDS } from '../servers/registry.ts';
import type { ServerKind } from '../servers/server.ts';
import { wrapText } from '../text.ts';
import type { World } from '../world.ts';

/** In a few words: the installed version, how it will be installed, or what the user can do. */
export function availability(tool: ToolInspection | undefined): string {
  if (tool === undefined) return 'unknown';
  if (tool.found !== null) return `${tool.found.version} (${tool.found.source})`;
  return tool.installMethod === null
    ? `missing. ${tool.fix ?? tool.problem ?? ''}`
    : 'installed by the first run';
}

/** The kind and its variants, as `--servers` names them. */
function describeKind({ name, title, description, definition, variants = {}, defaultVersion }: ServerKind) {
  const hasVersions = defaultVersion !== undefined;
  return [
    { name, title, description, hasVersions, definition },
    ...Object.entries(variants).map(([variant, { title: suffix, ...rest }]) => ({
      name: `${name}+${variant}`,
      title: `${title} (${suffix})`,
      hasVersions,
      ...rest,
    })),
  ];
}

export async function serversCommand(world: World, options: { json: boolean }): Promise<number> {
  const tools = await inspectTools(world);
  const rows = SERVER_KINDS.flatMap(describeKind).map(({ definition, ...row }) => {
    const tool = tools.find(({ program }) => program === definition.program);
    return {
      ...row,
      available: tool?.found != null,
      canBeGot: tool?.installMethod != null,
      availability: definition.existing !== undefined ? 'in the cluster' : availability(tool),
    };
  });
  if (options.json) {
    world.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return 0;
  }
  const width = Math.max(...rows.map(({ name }) => name.length));
  const columns = world.stdout.columns ?? 80;
  for (const { name, description, availability: here } of rows) {
    const text = wrapText(`${description}. ${here}`, columns - width - 2);
    world.stdout.write(`${name.padEnd(width)}  ${text.join(`\n${' '.repeat(width + 2)}`)}\n`);
  }
  return 0;
}
