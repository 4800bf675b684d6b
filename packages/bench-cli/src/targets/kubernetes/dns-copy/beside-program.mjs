/** Beside a DNS server in its pod, whose processes it shares: tells the server's memory, and ends it without warning. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** The first process keeps the pod; the other that is not this program is the server. */
function findServer() {
  const others = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && name !== '1' && name !== String(process.pid),
  );
  return others[0] === undefined ? null : Number(others[0]);
}

function memoryOf(pid) {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (field) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1024;
  return { bytes: bytes('VmRSS'), peakBytes: bytes('VmHWM') };
}

/** A request may come twice, if the answer to the first was lost. */
let hasKilled = false;

const ANSWERS = {
  '/memory': (pid) => memoryOf(pid),
  '/kill': (pid) => {
    if (!hasKilled) process.kill(pid, 'SIGKILL');
    hasKilled = true;
    return { pid };
  },
};

createServer(({ url }, response) => {
  try {
    const pid = findServer();
    const answer = ANSWERS[url];
    if (pid === null || answer === undefined) throw new Error('there is no such thing');
    response.end(JSON.stringify(answer(pid)));
  } catch (error) {
    response.statusCode = 500;
    response.end(String(error));
  }
}).listen(Number(process.env.PORT));
