/** Settings of the commands of this experiment: checked together, so that every problem is told at once. */
import { defaultsOf, flagName, type Setting } from '../../config/setting.ts';
import { BenchError } from '../../errors.ts';

/** One line for each problem; the settings that have none are in `values`. */
function check(table: Readonly<Record<string, Setting>>, given: Readonly<Record<string, unknown>>) {
  const problems: string[] = [];
  const values: Record<string, unknown> = { ...defaultsOf(table) };
  for (const [name, setting] of Object.entries(table)) {
    if (given[name] === undefined) continue;
    const { success, data, error } = setting.schema.safeParse(given[name]);
    const typed = `${flagName(setting)}: ${JSON.stringify(given[name])}`;
    if (!success) problems.push(`${typed} ${error.issues[0]?.message}`);
    else if (Array.isArray(data) && new Set(data).size < data.length)
      problems.push(`${typed} names something twice`);
    else values[name] = data;
  }
  return { values, problems };
}

/**
 * The settings of a table, complete. `command` is named in the fix.
 * @throws BenchError `E_CONFIG` with every problem.
 */
export function decideSettings(
  table: Readonly<Record<string, Setting>>,
  given: Readonly<Record<string, unknown>>,
  command: string,
): Readonly<Record<string, unknown>> {
  const { values, problems } = check(table, given);
  if (problems.length === 0) return values;
  const message = problems.length === 1 ? (problems[0] ?? '') : `${problems.length} settings are wrong`;
  throw new BenchError('E_CONFIG', message, {
    evidence: problems.length === 1 ? [] : problems,
    fix: `Correct it; \`${command} --help\` shows every setting.`,
  });
}
