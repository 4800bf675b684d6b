/**
 * The loop that takes samples: a shell script that needs nothing but a POSIX shell, /proc and curl, so that it runs on
 * this machine, in a network namespace and in a pod alike; or the built-in client, which needs Node.js instead.
 *
 * Its output is one line for each sample (see `sample.ts`), and the kernel's counter of repeated SYN packets before
 * the first and after the last: `kernel|begin|12`, `kernel|end|12`; without a number where the kernel does not count them.
 */
import { CURL_FORMAT, parseSampleLine, type Sample } from './sample.ts';

export const CLIENTS = ['curl', 'builtin'] as const;
export type Client = (typeof CLIENTS)[number];

/** Limit of one sample, as in tiger-bench's `curl -m 8`. */
export const SAMPLE_LIMIT_SECONDS = 8;

/** Whether each sample asks for a name of its own: the first label of the host is a star, as in a wildcard record. */
export function hasNewNames({ hostname }: URL): boolean {
  return hostname.startsWith('*.');
}

/**
 * Arguments: the URL, in which a star stands for a new name in each sample; for how long, 0 for a single sample, and the
 * least time from one sample's start to the next one's, in hundredths of a second.
 * /proc is read by the shell itself: `date` would cost a process each time.
 * The last sample may end after the time is over; none is cut off. A proxy of the environment would look the name up
 * in our place, and ~/.curlrc could change what is measured.
 */
export const CURL_LOOP = `unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
counter() {
  names=
  while read -r kind rest; do
    [ "$kind" = TcpExt: ] || continue
    if [ -z "$names" ]; then names=$rest; continue; fi
    set -- $rest
    for name in $names; do
      if [ "$name" = TCPSynRetrans ]; then echo "kernel|$moment|$1"; return; fi
      shift
    done
  done < /proc/net/netstat
  echo "kernel|$moment|"
}
now() {
  read -r up rest < /proc/uptime
  at=\${up%.*}\${up#*.}
}
command -v curl > /dev/null || { echo 'curl is not there' >&2; exit 127; }
url=$1
now
end=$((at + $2))
moment=begin; counter
now
while :; do
  case $1 in *'*'*)
    read -r name < /proc/sys/kernel/random/uuid
    url=\${1%%'*'*}$name\${1#*'*'}
  esac
  printf 'sample|%s|' "$at"
  curl -q -m ${SAMPLE_LIMIT_SECONDS} -s -o /dev/null -w '${CURL_FORMAT}|' "$url"
  echo $?
  next=$((at + $3))
  [ "$next" -lt "$end" ] || break
  now
  rest=$((next - at))
  if [ "$rest" -gt 0 ]; then
    sleep "$((rest / 100)).$((rest / 10 % 10))$((rest % 10))"
    now
  fi
  [ "$at" -lt "$end" ] || break
done
# So that it has lasted as long as it says.
now
rest=$((end - at))
if [ "$rest" -gt 0 ]; then sleep "$((rest / 100)).$((rest / 10 % 10))$((rest % 10))"; fi
moment=end; counter
`;

/** The program of the built-in client: see the file. */
export const BUILTIN_PROGRAM = new URL('./client-program.mjs', import.meta.url);

/**
 * Starts the built-in client from `program`, with a URL, for how long in seconds, and how far apart samples start at least;
 * without arguments it only checks whether it can work here.
 */
export function builtinCommand(node: string, program: string, ...arguments_: readonly (string | number)[]) {
  // Threads of V8 would be missing in the processes that it forks.
  return [node, '--single-threaded', program, ...arguments_.map(String)];
}

export interface SamplerRequest {
  readonly client: Client;
  readonly url: string;
  /** 0 for a single sample. */
  readonly seconds: number;
  /** Samples start this far apart or more. */
  readonly paceSeconds: number;
}

const hundredths = (seconds: number) => String(Math.round(seconds * 100));

/** The command that samples with curl for this long, 0 for a single sample; samples start `paceSeconds` apart or more. */
export function curlCommand(url: string, seconds: number, paceSeconds: number): readonly string[] {
  return ['/bin/sh', '-c', CURL_LOOP, 'sampler', url, hundredths(seconds), hundredths(paceSeconds)];
}

/** The command that samples with this client, which is `program` where it is the built-in one. */
export function samplerCommand(
  { client, url, seconds, paceSeconds }: SamplerRequest,
  node: string,
  program: string,
): readonly string[] {
  return client === 'curl'
    ? curlCommand(url, seconds, paceSeconds)
    : builtinCommand(node, program, url, seconds, paceSeconds);
}

/** What a sampler printed. */
export interface Sampled {
  readonly samples: readonly Sample[];
  /** SYN packets that the kernel of the network namespace repeated meanwhile; null if it does not say. */
  readonly kernelRepeats: number | null;
  /** Whether the loop came to its end. */
  readonly isComplete: boolean;
}

/** Before the moment and the counter, which is no number where the kernel does not have it. */
const KERNEL = 'kernel|';

function counterIn(lines: readonly string[], moment: 'begin' | 'end'): number | null {
  const prefix = `${KERNEL}${moment}|`;
  const text = lines.find((line) => line.startsWith(prefix))?.slice(prefix.length) ?? '';
  return /^\d+$/.test(text) ? Number(text) : null;
}

/** Reads the lines of a sampler; lines of other programs are skipped. */
export function readSampled(lines: readonly string[]): Sampled {
  const [begin, end] = [counterIn(lines, 'begin'), counterIn(lines, 'end')];
  return {
    samples: lines.flatMap((line) => parseSampleLine(line) ?? []),
    kernelRepeats: begin === null || end === null ? null : end - begin,
    isComplete: lines.some((line) => line.startsWith(`${KERNEL}end|`)),
  };
}
