/**
 * `docs/settings.md`, made from the declarations of the settings:
 *
 *     node packages/bench-cli/scripts/settings-doc.ts > docs/settings.md
 */
import { pathToFileURL } from 'node:url';
import { KUBERNETES_SETTINGS } from '../src/config/kubernetes-settings.ts';
import { PRESETS } from '../src/config/presets.ts';
import { type Setting, type SettingTable, shownValue } from '../src/config/setting.ts';
import { RUN_SETTINGS, variableOf } from '../src/config/settings.ts';

const escaped = (text: string) => text.replaceAll('|', '\\|');

function defaultCell(setting: Setting): string {
  return setting.default === undefined ? '' : `\`${shownValue(setting, setting.default)}\``;
}

function table(settings: SettingTable): string {
  const rows = Object.entries(settings).map(
    ([name, setting]) =>
      `| \`${escaped(setting.flag)}\` | \`${name}\` | ${defaultCell(setting)} | ${escaped(setting.description)} |`,
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

${table(RUN_SETTINGS)}

On a cluster:

${table(KUBERNETES_SETTINGS)}

Presets (\`--preset\`), as they would be in a file:

${presets.join('\n')}
`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.stdout.write(settingsPage());
