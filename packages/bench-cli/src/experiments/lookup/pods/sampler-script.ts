/**
 * What the containers of a sampler pod do, and how they agree on the moment: by files in a directory that they share.
 * The sampler checks that it can begin, the capture confirms that it sees packets, the sampler samples, the capture counts.
 */
import { SHARED_DIRECTORY, SIGNALS } from '../capture/pod-signals.ts';

/** How long the newest of many Services may take until it answers: kube-proxy writes its rules again for all of them. */
const READY_ATTEMPTS = 120;
/** kube-proxy drops packets to a Service that it does not know: an attempt must not wait for long. */
const READY_LIMIT_SECONDS = 1;
const READY_PAUSE_SECONDS = 0.5;

/** A policy may take a moment until it lets DNS through, and a new Service until it is everywhere. */
const ATTEMPTS = 5;
/** One that waits for curl's limit of 8 s counts as three: at most two of them. */
const TIMEOUT_ATTEMPTS = 3;

/** curl's for a name that does not resolve, and for a limit of time. */
export const STATUS = { unresolved: 6, timeout: 28 } as const;

/**
 * What is asked before the first sample: `check` demands that the page answers; `warm` asks for it once, so that no sample finds
 * the caches of the cluster cold; `nothing` leaves the first packets of the pod to its first sample.
 */
export type AskedBefore = 'check' | 'warm' | 'nothing';

/** Exit status of the sampler that could not begin. */
export const NOT_BEGUN = 64;

const path = (signal: string) => `${SHARED_DIRECTORY}/${signal}`;

/**
 * Arguments: a URL to wait for or nothing, the URL to be sampled, what is asked before, and the command that samples. Prints
 * `not-ready|URL`, or `unreachable|STATUS` with a line `tried|ADDRESS:PORT...` for each address, when it cannot begin; the capture
 * then does not wait for it.
 */
export const SAMPLER_SCRIPT = `get() { curl -q -m "$1" -s -o /dev/null "$2"; }
not_begun() {
  touch ${path(SIGNALS.prepared)} ${path(SIGNALS.sampled)}
  exit ${NOT_BEGUN}
}
ready=$1; url=$2; before=$3; shift 3
case $url in *'*'*)
  read -r name < /proc/sys/kernel/random/uuid
  url=\${url%%'*'*}$name\${url#*'*'}
esac
if [ -n "$ready" ]; then
  attempts=0
  until get ${READY_LIMIT_SECONDS} "$ready"; do
    attempts=$((attempts + 1))
    if [ "$attempts" -ge ${READY_ATTEMPTS} ]; then echo "not-ready|$ready"; not_begun; fi
    sleep ${READY_PAUSE_SECONDS}
  done
fi
attempts=0
while [ "$before" = check ]; do
  said=$(curl -q -v -m 8 -s -o /dev/null "$url" 2>&1)
  status=$?
  [ "$status" -ne 0 ] || break
  if [ "$status" -eq ${STATUS.timeout} ]; then attempts=$((attempts + ${TIMEOUT_ATTEMPTS}))
  else attempts=$((attempts + 1)); fi
  if [ "$attempts" -ge ${ATTEMPTS} ]; then
    echo "unreachable|$status"
    echo "$said" | while read -r _ word address _; do
      [ "$word" != Trying ] || echo "tried|$address"
    done
    not_begun
  fi
  sleep 1
done
[ "$before" != warm ] || get 8 "$url"
touch ${path(SIGNALS.prepared)}
if [ -n "$WAIT_FOR_CAPTURE" ]; then
  until [ -e ${path(SIGNALS.capturing)} ]; do
    if [ -e ${path(SIGNALS.failed)} ]; then exit ${NOT_BEGUN}; fi
    sleep 0.1
  done
fi
"$@"
status=$?
touch ${path(SIGNALS.sampled)}
exit $status
`;
