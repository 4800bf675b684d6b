/** The parts of the Markdown report that are about the run, not about its figures. */
import type { RunRecord } from '../results/record.ts';
import type { DeltaDefinition } from '../stats/deltas.ts';
import { shellCommand } from '../text.ts';
import { serverTitle } from './cases.ts';
import { environmentFacts, methodLines, settingText } from './facts.ts';
import { blocks, bullets, code, codeBlock, factTable, plain, table } from './markdown-text.ts';
import { CONTENDED, NOT_SERVER_LIMITED } from './marks.ts';
import { formatBytes } from './numbers.ts';
import { runStatus } from './status.ts';
import { THROTTLED_EXPLANATION } from './throttling.ts';

export function failedTrials(record: RunRecord): string {
  const { failures } = runStatus(record);
  if (failures.length === 0) return '';
  const shown = failures.slice(0, 100);
  const rows = shown.map(({ key, failure }) => [code(key), code(failure.code), plain(failure.message)]);
  return blocks(
    '## Failed trials',
    'A failed trial is a result with a reason; no figure above includes it.',
    table(['Trial', 'Code', 'Reason'], rows, [1, 2]),
    failures.length > shown.length ? `… and ${failures.length - shown.length} more, in run.json.` : '',
  );
}

/** What is known to be wrong in DinoDNS 0.0.13 as published. */
export function stockNote(record: RunRecord): string {
  if (!record.cases.some(({ server }) => server === 'dinodns-stock')) return '';
  return (
    `**${plain(serverTitle(record, 'dinodns-stock'))}** (\`dinodns-stock\`) is the unmodified framework from npm with its DefaultStore and ` +
    'DNSOverUDP, run as documented. It is included to keep the comparison honest, not because it ' +
    'answers like the others: in version 0.0.13 names are compared case-sensitively, an existing name queried for ' +
    'another type gets NXDOMAIN instead of an empty answer, the AA bit is never set, every TTL is 0, client cookies ' +
    "are echoed as if they were the server's, `refused()` sends FORMERR, and one UDP datagram of 3 bytes ends the " +
    'process.'
  );
}

export function method(record: RunRecord): string {
  const command = record.trials.find((trial) => trial.loaderCommands.length > 0)?.loaderCommands[0];
  const settings = Object.entries(record.configuration).map(
    ([name, value]) => [code(name), plain(settingText(value))] as const,
  );
  return blocks(
    '## Method',
    bullets(methodLines(record).map(plain)),
    command === undefined
      ? ''
      : blocks('The load generator, in the first trial:', codeBlock(shellCommand(command), 'sh')),
    settings.length === 0 ? '' : factTable(['Setting', 'Value'], settings),
  );
}

export function environment(record: RunRecord): string {
  const rows = environmentFacts(record).map(([name, value]) => [plain(name), plain(value)] as const);
  return blocks('## Environment', factTable(['', ''], rows));
}

export function programs(record: RunRecord): string {
  const servers = record.servers.map((server) => [
    plain(server.title),
    plain(server.version),
    plain(
      Object.entries(server.components)
        .map(([name, version]) => `${name} ${version}`)
        .join(', '),
    ),
    code(server.executable),
  ]);
  const tools = record.provisioned.map((tool) => [
    plain(tool.tool),
    plain(tool.version),
    plain(tool.source),
    plain(tool.origin),
    tool.sizeBytes === null ? '' : formatBytes(tool.sizeBytes),
  ]);
  return blocks(
    servers.length + tools.length === 0 ? '' : '## Programs',
    servers.length === 0 ? '' : table(['Server', 'Version', 'Components', 'Program'], servers, [1, 2, 3]),
    servers.length === 0 ? '' : 'Their configuration files are in `run.json`, under `servers[].files`.',
    tools.length === 0 ? '' : table(['Tool', 'Version', 'Source', 'Origin', 'Size'], tools, [1, 2, 3]),
  );
}

/** What to type into a shell to repeat the run. */
export function repeatCommands({ environment: { git }, command }: RunRecord): string {
  return git === null ? command : `git checkout ${git.commit}\n${command}`;
}

export function repeat(record: RunRecord): string {
  return blocks('## Reproduce', codeBlock(repeatCommands(record), 'sh'));
}

export function warnings(record: RunRecord): string {
  return record.warnings.length === 0 ? '' : blocks('## Warnings', bullets(record.warnings.map(plain)));
}

export function howToRead(record: RunRecord, definition: DeltaDefinition): string {
  const used = (name: DeltaDefinition) => (name === definition ? ' **This report uses this one.**' : '');
  return blocks(
    '## How to read this',
    bullets([
      `Deltas are against ${plain(serverTitle(record, record.baseline))} of the same tier, mode, workload, transport and rate. \`relative\` is (value − ` +
        `baseline) ÷ baseline.${used('relative')} \`symmetric\` is (value − baseline) ÷ mean of both, the definition of the ` +
        `published DinoDNS tables: 18,584 against 20,855 QPS is −10.89% relative and −11.52% symmetric.${used('symmetric')}`,
      'Figures in square brackets are 95 % confidence intervals. A verdict is given only if the interval of the delta ' +
        'excludes zero and the test still agrees after correction for the number of comparisons: of runs of equal ' +
        'servers, at most one in 20 names a winner in a figure. The intervals are valid for this machine on this day, not ' +
        'for other machines.',
      'Success is completed ÷ sent. NXDOMAIN and REFUSED are answers and count as completed. Latency is the mean of ' +
        'completed queries only, without lost ones.',
      `${NOT_SERVER_LIMITED} marks a throughput that the server did not limit, or not in every trial: it is a lower bound on what the server ` +
        `can do. Such a throughput, and the latency that mirrors it, gets no verdict: it is *not compared*. ${CONTENDED} marks servers and load generators that had to share cores.`,
      'CPU and memory cover all processes of the server over the whole trial; memory is the proportional set size ' +
        `where the kernel provides it, else the resident set size. ${THROTTLED_EXPLANATION}`,
    ]),
    stockNote(record),
  );
}
