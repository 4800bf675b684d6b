/** `list-formats`: the formats of `generate`. */
import { writeOut } from '@dinodns-bench/program';
import type { Command } from 'commander';
import { formats } from '../formats/index.ts';
import { RECORD_TYPES } from '../records.ts';
import type { CliWorld } from './options.ts';

export function addListFormats(program: Command, world: CliWorld): Command {
  return program
    .command('list-formats')
    .description('List the formats.')
    .option('--json', 'as JSON')
    .action(({ json }: { json?: boolean }) => writeOut(world, [json === true ? asJson() : asText()]));
}

function asJson(): string {
  const keys = ['name', 'title', 'description', 'files', 'recordTypes'];
  return `${JSON.stringify(formats, keys, 2)}\n`;
}

function asText(): string {
  const width = Math.max(...formats.map(({ name }) => name.length));
  const indent = ' '.repeat(width + 2);
  return formats
    .map(({ name, title, description, files, recordTypes }) => {
      const missing = RECORD_TYPES.filter((type) => !recordTypes.includes(type));
      const without = missing.length === 0 ? '' : `\n${indent}without ${missing.join(', ')} records`;
      return `${name.padEnd(width)}  ${title}: ${files.join(', ')}\n${indent}${description}${without}\n`;
    })
    .join('');
}
