import { describe, expect, it } from 'vitest';
import { ClusterError, renderCorefile, renderNodeLocalCorefile } from '../src/index.ts';

it('without options it is the Corefile of a cluster', () => {
  expect(renderCorefile()).toBe(`.:53 {
    errors
    health :8080 {
       lameduck 5s
    }
    ready :8181
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
`);
});

describe('an option changes what it says, and nothing else', () => {
  const stock = renderCorefile().split('\n');
  it.each([
    [{ pods: 'verified' }, ['       pods verified'], ['       pods insecure']],
    [{ cache: 'off' }, [], ['    cache 30']],
    [{ cache: 'no-denial' }, ['    cache 30 {', '       disable denial'], ['    cache 30']],
    [{ endpoint: 'http://127.0.0.1:8001' }, ['       endpoint http://127.0.0.1:8001'], []],
    [{ autopath: '/tmp/resolv.conf' }, ['    autopath /tmp/resolv.conf'], []],
    [{ address: '127.0.0.1', port: 5300 }, ['.:5300 {', '    bind 127.0.0.1'], ['.:53 {']],
    [{ lameduckSeconds: 0 }, ['    health :8080'], ['    health :8080 {', '       lameduck 5s']],
  ] as const)('%o', (options, added, removed) => {
    const lines = renderCorefile(options).split('\n');
    expect([...new Set(lines)].filter((line) => !stock.includes(line))).toEqual(added);
    expect([...new Set(stock)].filter((line) => !lines.includes(line))).toEqual(removed);
  });
});

it.each([
  [{ upstream: '127.0.0.1 {' }, 'upstream cannot be "127.0.0.1 {"'],
  [{ autopath: '@kubernetes' }, 'autopath @kubernetes needs to know every pod, but pods are insecure'],
])('%o cannot be written', (options, problem) => {
  expect(() => renderCorefile(options)).toThrow(problem);
});

describe('the Corefile of NodeLocal DNSCache', () => {
  const options = {
    clusterDns: '127.0.0.1:5300',
    upstream: '127.0.0.1:5301',
    address: '127.0.0.1',
    port: 5302,
    health: '127.0.0.1:8080',
    metrics: '127.0.0.1:9253',
  };

  it('asks the cluster over TCP for its names, and the upstream for all others', () => {
    const blocks = renderNodeLocalCorefile(options).split(/^(?=\S+:5302 \{)/m);
    expect(blocks.map((block) => block.slice(0, block.indexOf(':')))).toEqual([
      'cluster.local',
      'in-addr.arpa',
      'ip6.arpa',
      '.',
    ]);
    for (const block of blocks.slice(0, 3)) {
      expect(block).toContain('    forward . 127.0.0.1:5300 {\n       force_tcp\n    }\n');
    }
    expect(blocks[0]).toContain('    cache {\n       success 9984 30\n       denial 9984 5\n    }\n');
    expect(blocks[3]).toContain('    forward . 127.0.0.1:5301\n');
    expect(blocks[3]).toContain('    cache 30\n');
  });

  it('refuses what a Corefile cannot write', () => {
    expect(() => renderNodeLocalCorefile({ ...options, upstream: 'a b' })).toThrow(ClusterError);
  });
});
