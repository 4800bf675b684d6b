/**
 * `docs/settings.md`, made from the declarations of the settings:
 *
 *     node packages/bench-cli/scripts/settings-doc.ts > docs/settings.md
 */
import { pathToFileURL } from 'node:url';
import { KUBERNETES_SETTINGS } from '../src/config/kubernetes-settings.ts';
import { PRESETS } from '../src/config/presets.ts';
import type { Setting, SettingTable } from '../src/config/setting.ts';
import { RUN_SETTINGS, variableOf } from '../src/config/settings.ts';
import { shownDefault } from '../src/config/short-run.ts';

const escaped = (text: string) => text.replaceAll('|', '\\|');

function defaultCell(name: string, setting: Setting): string {
  const shown = shownDefault(name, setting);
  return shown === undefined ? '' : `\`${shown.replace('; ', '`; ').replace('cluster ', 'cluster `')}\``;
}

function table(settings: SettingTable): string {
  const rows = Object.entries(settings).map(
    ([name, setting]) =>
      `| \`${escaped(setting.flag)}\` | \`${name}\` | ${defaultCell(name, setting)} | ${escaped(setting.description)} |`,
  );
  return ['| flag | key in a file | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/** The whole page. */
export function settingsPage(): string {
  const presets = Object.entries(PRESETS).map(
    ([name, values]) => `- \`${name}\`: \`${JSON.stringify(values)}\``,
  );
  return `# Settings of a run

Generated from the declarations in \`packages/bench-cli/src/config\`; do not edit.

Every setting can come from a flag, from the environment (\`corednsVersion\` is \`${variableOf('corednsVersion')}\`), or
from a YAML file (\`--config\`). Flags override the environment, which overrides the file, which overrides presets.
Durations are in seconds or have a unit: \`90s\`, \`10m\`, \`1h\`. List entries are separated by commas; in a file they can
be YAML lists.

The defaults of \`--duration\`, \`--warmup\` and \`--trials\` are those of a cluster also with \`--objective max-rate\`, and, as a note
on stderr says, with servers that are running already and with a workload of more than 10,000 queries (\`--zones 20000\`), which short
trials would not get through. A flag without effect is refused (\`--max-trials\` without \`--until\`), and so is a variable \`${variableOf('')}…\` that no
command knows. A variable can be set for several commands, so one without effect on the command at hand is named in a
note on stderr and ignored. A file may hold settings for several runs, too. Commands that read runs (\`history\`, \`report\`,
\`site\`) take the directory of the runs from \`${variableOf('out')}\`, and nothing else from the environment.

${table(RUN_SETTINGS)}

On a cluster:

${table(KUBERNETES_SETTINGS)}

Presets (\`--preset\`), as they would be in a file:

${presets.join('\n')}
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(settingsPage());
