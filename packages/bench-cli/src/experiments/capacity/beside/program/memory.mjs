/** Memory of the CoreDNS process, from /proc, and of its heap, from its metrics. */
import { readdirSync, readFileSync } from 'node:fs';

/** A peak lasts about as long as a list takes to decode; 20 ms see it even for small lists. */
const PEAK_INTERVAL_MS = 20;
const SAMPLE_INTERVAL_MS = 250;

const field = (text, name) => {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text);
  return match === null ? null : Number(match[1]) * 1024;
};

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process has ended, or its details are not ours to read.
    return '';
  }
}

/** Ids of the processes with one of these names. */
export function findProcesses(names) {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  return pids.filter((entry) => names.includes(read(`/proc/${entry}/comm`).trim())).map(Number);
}

/** Linux tells CPU time in hundredths of a second, whatever its timer. */
const TICKS_PER_SECOND = 100;

/** CPU time of a process since its start; 0 once it has ended. */
export function cpuSecondsOf(pid) {
  const [, fields = ''] = read(`/proc/${pid}/stat`).split(') ');
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
  return (user + system) / TICKS_PER_SECOND;
}

/** Id of CoreDNS: that of PID where it is set, as on a machine where others may run; else the process of this name. */
export function findCoredns() {
  const { PID } = process.env;
  return PID === undefined ? (findProcesses(['coredns'])[0] ?? null) : Number(PID);
}

/** Ends CoreDNS, if it still lives. */
export function endCoredns(signal = 'SIGTERM') {
  const pid = findCoredns();
  if (pid !== null && isAlive(pid)) process.kill(pid, signal);
}

export function isAlive(pid) {
  const state = /^State:\s+(\w)/m.exec(read(`/proc/${pid}/status`))?.[1];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/**
 * In bytes: `anonymous` memory, which is what counts against a limit, because the kernel can drop the pages of the program's
 * file at any time; all resident memory and the part of it that is mapped from files; where it may be read, the proportional
 * set size; and the largest resident one since the start.
 */
export function memoryOf(pid) {
  const status = read(`/proc/${pid}/status`);
  return {
    anonymousBytes: field(status, 'RssAnon'),
    fileBytes: field(status, 'RssFile'),
    rssBytes: field(status, 'VmRSS'),
    pssBytes: field(read(`/proc/${pid}/smaps_rollup`), 'Pss'),
    highestBytes: field(status, 'VmHWM'),
  };
}

/** Nearest rank, as `stats/percentile.ts` has it, which a pod has not. */
export function percentile(values, percent) {
  const ascending = values.toSorted((a, b) => a - b);
  return ascending[Math.max(1, Math.ceil((ascending.length * percent) / 100)) - 1];
}

/** Watches a process until `end` is called, which tells what was seen. `isNew`: its whole life is watched. */
export function watchMemory(pid, isNew) {
  const before = memoryOf(pid);
  let peakBytes = before.anonymousBytes ?? 0;
  let peakFileBytes = before.fileBytes ?? 0;
  const samples = [];
  const look = setInterval(() => {
    const status = read(`/proc/${pid}/status`);
    peakBytes = Math.max(peakBytes, field(status, 'RssAnon') ?? 0);
    peakFileBytes = Math.max(peakFileBytes, field(status, 'RssFile') ?? 0);
  }, PEAK_INTERVAL_MS);
  const sampling = setInterval(() => {
    const { anonymousBytes } = memoryOf(pid);
    if (anonymousBytes !== null) samples.push(anonymousBytes);
  }, SAMPLE_INTERVAL_MS);
  return {
    end() {
      clearInterval(look);
      clearInterval(sampling);
      const { anonymousBytes, fileBytes, rssBytes, pssBytes, highestBytes } = memoryOf(pid);
      samples.push(anonymousBytes ?? 0);
      const at = (percent) => percentile(samples, percent);
      // The kernel misses nothing between two looks: what it saw counts, without the most of the file, if it rose meanwhile.
      const hasRisen = isNew || (highestBytes ?? 0) > (before.highestBytes ?? 0);
      const seen = hasRisen ? (highestBytes ?? 0) - Math.max(peakFileBytes, fileBytes ?? 0) : 0;
      return {
        medianBytes: at(50),
        p95Bytes: at(95),
        peakBytes: Math.max(peakBytes, seen),
        rssBytes,
        pssBytes,
      };
    },
  };
}

const GO_METRICS = {
  heapAllocBytes: 'go_memstats_heap_alloc_bytes',
  heapInuseBytes: 'go_memstats_heap_inuse_bytes',
  heapSysBytes: 'go_memstats_heap_sys_bytes',
  nextCollectionBytes: 'go_memstats_next_gc_bytes',
};

/** Go's own figures; null for each that the metrics do not have. */
export async function heapOf(metricsUrl) {
  const text = await fetch(metricsUrl).then(
    (answer) => answer.text(),
    () => '',
  );
  const metric = (name) => {
    const match = new RegExp(`^${name} (\\S+)$`, 'm').exec(text);
    return match === null ? null : Number(match[1]);
  };
  return Object.fromEntries(Object.entries(GO_METRICS).map(([key, name]) => [key, metric(name)]));
}
