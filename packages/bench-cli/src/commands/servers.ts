/** `bench servers`: the server kinds, and whether their programs are here. */

import { inspectTools, type ToolInspection } from '../doctor/inspect-tools.ts';
import { printJson } from '../output.ts';
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

type Row = Omit<ReturnType<typeof describeKind>[number], 'definition'> & { readonly availability: string };

/** A kind with its availability; a variant below it, with its own only where that differs. */
function describeRow(
  { name, description, hasVersions, availability: here }: Row,
  kind: Row | undefined,
): string {
  if (kind !== undefined && kind.availability === here) return description;
  return `${description}. ${here}${hasVersions && kind === undefined ? `; others: ${name}@VERSION` : ''}`;
}

/** A variant's name without that of its kind: `  +file`. */
function labelOf({ name }: Row, kind: Row | undefined): string {
  return kind === undefined ? name : `  ${name.slice(kind.name.length)}`;
}

function render(rows: readonly Row[], columns: number): string {
  const kindOf = ({ name }: Row) =>
    name.includes('+') ? rows.find((row) => row.name === name.split('+')[0]) : undefined;
  const width = Math.max(...rows.map((row) => labelOf(row, kindOf(row)).length));
  const indent = `\n${' '.repeat(width + 2)}`;
  return rows
    .map((row) => {
      const kind = kindOf(row);
      const text = wrapText(describeRow(row, kind), columns - width - 2);
      return `${labelOf(row, kind).padEnd(width)}  ${text.join(indent)}\n`;
    })
    .join('');
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
  if (options.json) printJson(world, rows);
  else world.stdout.write(render(rows, world.stdout.columns ?? 80));
  return 0;
}
