#!/usr/bin/env bash
# Runs a command with the test cluster up and its images on the nodes: `k8s/testcluster.sh pnpm test:k8s`, or with two nodes
# `TESTCLUSTER_NODES=2 k8s/testcluster.sh pnpm test:nodes.k8s`: a cluster of its own, which can run beside the other.
# Set TESTCLUSTER_DIR to its scripts if they are not in ../shared/testcluster. The cluster is stopped afterwards,
# unless it ran before; KEEP_TESTCLUSTER=1 leaves it running.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts=$(realpath "${TESTCLUSTER_DIR:-../shared/testcluster}")
home=${TESTCLUSTER_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/dns-bench-testcluster}

# With a home and a port of its own, but the same binaries.
if [ "${TESTCLUSTER_NODES:-1}" != 1 ] && [ -z "${TESTCLUSTER_HOME:-}" ]; then
  mkdir -p "$home/bin" "$home-nodes"
  ln -sfn "$home/bin" "$home-nodes/bin"
  home=$home-nodes
  export TESTCLUSTER_HOME=$home TESTCLUSTER_PORT=${TESTCLUSTER_PORT:-16444}
  # Their tests ask the kubelets.
  export TESTCLUSTER_METRICS=${TESTCLUSTER_METRICS:-0}
fi
# One after the other: what the first has compiled and built, the second only loads.
exec 8<k8s/testcluster.sh
flock 8

pnpm() { npx -y pnpm@10 "$@"; }
context=$(mktemp -d)
ran_before=1
bash "$scripts/status" >/dev/null 2>&1 || ran_before=''
finish() {
  local status=$?
  rm -rf "$context"
  if [ -z "$ran_before" ] && [ -z "${KEEP_TESTCLUSTER:-}" ]; then bash "$scripts/down" >&2 || status=1; fi
  exit "$status"
}
trap finish EXIT

# A component that is just about to start can look to `up` as if it had ended; its advice is to begin anew.
if ! vars=$(bash "$scripts/up"); then
  bash "$scripts/down" >&2
  vars=$(bash "$scripts/up")
fi
eval "$vars"
# As in other clusters. Without a request, a pod gets next to nothing on a busy machine, and copies of the DNS have what it has.
"$home/bin/kubectl" --namespace kube-system set resources deployment/coredns --requests=cpu=100m >&2

bash "$scripts/base-images" debian:bookworm node:24 >&2
# The official image of CoreDNS cannot be pulled there; the same program can be built, under the same name.
pnpm bench doctor --fix --json >"$context/doctor.json" 2>/dev/null || true
read -r version binary < <(pnpm -s exec node -e '
  const tools = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
  console.log(tools.find(({ name }) => name === "coredns").found.replace(",", ""));
' "$context/doctor.json")
mkdir "$context/coredns"
cp "$binary" "$context/coredns/coredns"
ours=$(pnpm -s exec node -p 'require("./packages/bench-cli/package.json").version')

# All at once: each waits for disk, storage and node most of the time.
building=()
image() {
  bash "$scripts/image" "$@" >&2 &
  building+=($!)
}
image "coredns/coredns:$version" "$context/coredns" -f k8s/images/coredns/Dockerfile --build-arg BASE_IMAGE=localhost/debian:bookworm
image "dinodns-bench/dnsperf:$ours" k8s/images/dnsperf --build-arg BASE_IMAGE=localhost/debian:bookworm
image "dinodns-bench/server:$ours" . -f k8s/images/server/Dockerfile --build-arg NODE_IMAGE=localhost/node:24
image "dinodns-bench/load:$ours" . -f k8s/images/load/Dockerfile --build-arg NODE_IMAGE=localhost/node:24

# What tests of several nodes do not need: dnsmasq, the floor (servers in C, and the echo), and images that cannot serve, for tests of
# `bench swap`. Each node stores a copy of its own.
if [ "${TESTCLUSTER_NODES:-1}" = 1 ]; then
  for kind in dnsmasq knot nsd; do
    image "dinodns-bench/$kind:$ours" "k8s/images/$kind" --build-arg BASE_IMAGE=localhost/debian:bookworm
  done
  image "dinodns-bench/echo:$ours" packages/batched-udp/src -f k8s/images/echo/Dockerfile --build-arg BASE_IMAGE=localhost/debian:bookworm
  for kind in crashing foreign; do
    image "bad-coredns:$kind" packages/bench-cli/test/fixtures/bad-coredns --target "$kind" \
      --build-arg BASE_IMAGE=localhost/debian:bookworm
  done
fi
for job in "${building[@]}"; do wait "$job"; done
exec 8<&-
"$home/bin/kubectl" --namespace kube-system rollout status deployment/coredns --timeout=180s >&2

# Where the suite finds the cluster's own processes, to stop some for a while, and what starts again those it ended.
export BENCH_K8S_COMPONENTS=$home/state/run
export BENCH_K8S_REPAIR="bash $scripts/up"
"$@"
