/**
 * What the containers of a sampler pod do, and how they agree on the moment: by files in a directory that they share.
 * The sampler checks that it can begin, the capture confirms that it sees packets, the sampler samples, the capture counts.
 */
import { SHARED_DIRECTORY, SIGNALS } from '../capture/pod-signals.ts';

/** How long the newest of many Services may take until it answers: kube-proxy writes its rules again for all of them. */
const READY_ATTEMPTS = 120;
const READY_PAUSE_SECONDS = 0.5;

/** A policy may take a moment until it lets DNS through. */
const NAME_ATTEMPTS = 5;

/** Exit status of curl for a name that does not resolve. */
export const UNRESOLVED = 6;

/** Exit status of the sampler that could not begin. */
export const NOT_BEGUN = 64;

const path = (signal: string) => `${SHARED_DIRECTORY}/${signal}`;

/**
 * Arguments: a URL to wait for or nothing, the URL to be sampled, and the command that samples. Prints
 * `not-ready|URL` or `unresolved|URL` when it cannot begin.
 */
export const SAMPLER_SCRIPT = `get() { curl -q -m 8 -s -o /dev/null "$1"; }
ready=$1; url=$2; shift 2
if [ -n "$ready" ]; then
  attempts=0
  until get "$ready"; do
    attempts=$((attempts + 1))
    if [ "$attempts" -ge ${READY_ATTEMPTS} ]; then echo "not-ready|$ready"; exit ${NOT_BEGUN}; fi
    sleep ${READY_PAUSE_SECONDS}
  done
fi
attempts=0
while get "$url"; [ $? -eq ${UNRESOLVED} ]; do
  attempts=$((attempts + 1))
  if [ "$attempts" -ge ${NAME_ATTEMPTS} ]; then echo "unresolved|$url"; exit ${NOT_BEGUN}; fi
  sleep 1
done
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
