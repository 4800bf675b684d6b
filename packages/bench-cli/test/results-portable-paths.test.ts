import { describe, expect, it } from 'vitest';
import {
  plainPath,
  withHomePaths,
  withPortablePaths,
  withRelativePaths,
} from '../src/results/portable-paths.ts';

describe('withPortablePaths', () => {
  const roots = { cwd: '/home/ann/bench', home: '/home/ann' };

  it('makes paths below the working directory relative and those below the home directory begin with ~', () => {
    const record = {
      command: [
        '/home/ann/.cache/coredns',
        '-conf',
        '/tmp/x/Corefile',
        '--zones=/home/ann/bench/results/1/zones',
      ],
      nested: { text: 'in "/home/ann/bench/results" and /home/ann/.npm', count: 3, nothing: null },
    };
    expect(withPortablePaths(record, roots)).toEqual({
      command: ['~/.cache/coredns', '-conf', '/tmp/x/Corefile', '--zones=results/1/zones'],
      nested: { text: 'in "results" and ~/.npm', count: 3, nothing: null },
    });
  });

  it('leaves paths alone that only look like it', () => {
    const text = '/mnt/home/ann/bench/x /home/anna/x /home/ann';
    expect(withPortablePaths(text, roots)).toBe(text);
  });

  it('does nothing for roots that are everywhere', () => {
    expect(withPortablePaths('/usr/bin/dnsperf', { cwd: '/', home: undefined })).toBe('/usr/bin/dnsperf');
  });
});

describe('paths that are read again', () => {
  it('are relative to the working directory and remain paths', () => {
    const settings = { workload: ['hits', '/w/hits'], servers: ['my=/w/my.yaml'], url: 'https://w/x' };
    expect(withRelativePaths(settings, '/w')).toEqual({
      ...{ workload: ['hits', './hits'], servers: ['my=./my.yaml'], url: 'https://w/x' },
    });
    expect(withRelativePaths(settings, '/')).toEqual(settings);
  });

  it('have one form, however the file was named', () => {
    expect(withRelativePaths(['/w/q.txt', '/w/half'], '/w')).toEqual(['q.txt', './half']);
    const names = ['./q.txt', 'q.txt', './half', '../q.txt', './.q', './-q.txt'];
    expect(names.map(plainPath)).toEqual(['q.txt', 'q.txt', './half', '../q.txt', './.q', './-q.txt']);
    // Only names of query files are: a program in the working directory is started by its path.
    expect(withRelativePaths(['./server.yaml'], '/w')).toEqual(['./server.yaml']);
  });

  it('are found in the home directory', () => {
    expect(withHomePaths(['~/q.txt', 'my=~/my.yaml', 'http://a/~/b'], '/home/ann')).toEqual([
      ...['/home/ann/q.txt', 'my=/home/ann/my.yaml', 'http://a/~/b'],
    ]);
    expect(withHomePaths('~/q.txt', undefined)).toBe('~/q.txt');
  });
});
