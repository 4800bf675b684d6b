#!/usr/bin/env node
/**
 * `node benchmarks/zone-file.ts [--records 1000000] [--rounds 3] [--file FILE]`: what it costs to read a zone file, and
 * to load it into a server's store. Each measurement is a process of its own; the stages take turns. Memory is the
 * maximum resident set, and includes Node.js itself.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadZoneFile, ZoneStore } from '@dinodns-bench/server-cluster';
import { readZoneFile } from '@dinodns-bench/zones';

const ORIGIN = 'bench.example.';

const STAGES = {
  'read the records': async (file: string) => {
    let count = 0;
    for (const _record of readZoneFile(file, { origin: ORIGIN })) count++;
    return count;
  },
  'load them into a store': async (file: string) => {
    const store = new ZoneStore();
    await loadZoneFile(store, file, { origin: ORIGIN });
    return store.data.names.size;
  },
} as const;

type Stage = keyof typeof STAGES;

interface Cost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly bytes: number;
}

/** Names as in a zone of hosts and delegations: eight of ten are hosts with one or two addresses, the others cuts. */
function writeZone(file: string, records: number): void {
  const out = openSync(file, 'w');
  let text = '$TTL 300\n@ SOA ns hostmaster 1 7200 3600 1209600 300\n@ NS ns\nns A 192.0.2.1\n';
  let count = 3;
  for (let host = 0; count < records; host++) {
    const address = `10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}`;
    if (host % 10 < 6) text += `host${host} A ${address}\n`;
    else if (host % 10 < 8)
      text += `host${host} 3600 IN A ${address}\n\tAAAA 2001:db8::${(host >> 16).toString(16)}:${(host & 0xffff).toString(16)}\n`;
    else if (host % 10 === 8)
      text += `sub${host} NS ns.sub${host}\n\tNS ns.example.net.\nns.sub${host} A ${address}\n`;
    else text += `mail${host} MX 10 host${host - 9}\n\tTXT "v=spf1 ip4:${address} -all"\n`;
    count += [1, 1, 1, 1, 1, 1, 2, 2, 3, 2][host % 10] ?? 0;
    if (text.length < 1 << 20 && count < records) continue;
    writeSync(out, text);
    text = '';
  }
  closeSync(out);
}

async function runStage(stage: Stage, file: string): Promise<void> {
  const start = performance.now();
  const count = await STAGES[stage](file);
  const seconds = (performance.now() - start) / 1000;
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6;
  console.log(JSON.stringify({ count, seconds, cpuSeconds, bytes: maxRSS * 1024 }));
}

function measure(stage: Stage, file: string): Cost {
  const args = [...process.execArgv, import.meta.filename, '--stage', stage, '--file', file];
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`"${stage}" ended with status ${status}`);
  return JSON.parse(stdout) as Cost;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function compare(file: string, rounds: number): void {
  const stages = Object.keys(STAGES) as Stage[];
  const costs = new Map<Stage, Cost[]>(stages.map((stage) => [stage, []]));
  for (let round = 0; round < rounds; round++) {
    for (const stage of round % 2 === 0 ? stages : stages.toReversed()) {
      costs.get(stage)?.push(measure(stage, file));
    }
  }
  console.log(`${(statSync(file).size / 2 ** 20).toFixed(1)} MiB of text\n`);
  console.log('| | wall s | CPU s | max. memory MB |\n|---|---:|---:|---:|');
  for (const [stage, all] of costs) {
    const of = (key: keyof Cost) => median(all.map((cost) => cost[key]));
    const cells = [of('seconds').toFixed(2), of('cpuSeconds').toFixed(2), (of('bytes') / 1e6).toFixed(0)];
    console.log(`| ${stage} | ${cells.join(' | ')} |`);
  }
}

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    file: { type: 'string' },
    stage: { type: 'string' },
  },
});
if (values.stage !== undefined && values.file !== undefined) {
  await runStage(values.stage as Stage, values.file);
} else {
  const directory = mkdtempSync(join(tmpdir(), 'zone-file-'));
  try {
    const file = values.file ?? join(directory, 'bench.zone');
    if (values.file === undefined) writeZone(file, Number(values.records));
    compare(file, Number(values.rounds));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
