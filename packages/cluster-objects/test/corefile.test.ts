import { describe, expect, it } from 'vitest';
import { renderCorefile } from '../src/index.ts';

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
