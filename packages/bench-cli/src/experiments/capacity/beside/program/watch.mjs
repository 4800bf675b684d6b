/**
 * Runs a load generator in a pod that shares its process ids, and passes on what it prints. From its line
 * `{"event":"started"}` to `{"event":"result",…}` it watches the processes with these names.
 *
 * Settings (environment): NAMES, with commas. Arguments: the command.
 * Output: after that of the load generator, `{"usage":{"cpuSeconds":…,"memoryBytes":…}}`: of all these processes together,
 * the CPU time and the mean anonymous memory.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { cpuSecondsOf, findProcesses, memoryOf } from './memory.mjs';

const NAMES = (process.env.NAMES ?? '').split(',');
const SAMPLE_MS = 250;

const sum = (values) => values.reduce((total, value) => total + value, 0);

let pids = [];
let begunWith;
const memory = [];
const cpuSeconds = () => sum(pids.map(cpuSecondsOf));
const sample = () => memory.push(sum(pids.map((pid) => memoryOf(pid).anonymousBytes ?? 0)));

function usage() {
  return { cpuSeconds: Math.max(0, cpuSeconds() - begunWith), memoryBytes: sum(memory) / memory.length };
}

const [program, ...given] = process.argv.slice(2);
const generator = spawn(program, given, { stdio: ['ignore', 'pipe', 'inherit'] });
let timer;
let last;
createInterface({ input: generator.stdout }).on('line', (line) => {
  console.log(line);
  if (line.startsWith('{"event":"started"')) {
    pids = findProcesses(NAMES);
    begunWith = cpuSeconds();
    sample();
    timer = setInterval(sample, SAMPLE_MS);
  } else if (line.startsWith('{"event":"result"') && begunWith !== undefined) last = usage();
});
generator.on('close', (code) => {
  clearInterval(timer);
  if (last !== undefined && pids.length > 0) console.log(JSON.stringify({ usage: last }));
  process.exitCode = code ?? 1;
});
