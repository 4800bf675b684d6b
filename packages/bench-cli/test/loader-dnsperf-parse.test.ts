import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DNSPERF, parseDnsperf, parseInterval } from '../src/loaders/dnsperf/parse.ts';
import type { LoadRequest } from '../src/loaders/loader.ts';

const folder = new URL('fixtures/dnsperf/', import.meta.url);
const parseFile = (name: string) => parseDnsperf(readFileSync(new URL(name, folder), 'utf8').split('\n'));

describe('parseDnsperf', () => {
  it('reads every statistic of dnsperf 2.10 over UDP', () => {
    expect(parseFile('2.10.0-udp.txt')).toMatchObject({
      version: '2.10.0',
      result: {
        queriesSent: 104617,
        queriesCompleted: 104617,
        queriesLost: 0,
        queriesInterrupted: 0,
        responseCodes: { NOERROR: 52309, NXDOMAIN: 52308 },
        averageRequestBytes: 30,
        averageResponseBytes: 44,
        runTimeSeconds: 2.005432,
        qps: 52166.814931,
        latencySeconds: { mean: 0.001812, min: 0.00003, max: 0.015403, standardDeviation: 0.001222 },
        connections: null,
        latencyHistogram: null,
      },
    });
  });

  it('reads the connection statistics of 2.10 and of 2.14, which differ', () => {
    expect(parseFile('2.10.0-tcp.txt').result?.connections).toEqual({
      count: 0,
      reconnections: 0,
      latencySeconds: { mean: 0.00211, min: 0.001374, max: 0.002378 },
    });
    expect(parseFile('2.14.0-tcp.txt').result?.connections).toEqual({
      count: 4,
      reconnections: 0,
      latencySeconds: { mean: 0.000534, min: 0.000509, max: 0.000564 },
    });
  });

  it('does not mistake the latency of connections for the latency of answers', () => {
    expect(parseFile('2.14.0-tcp.txt').result?.latencySeconds?.mean).toBe(0.001185);
  });

  it.each(['2.10.0', '2.14.0'])('has no latency when dnsperf %s lost everything and exited 0', (version) => {
    const { result } = parseFile(`${version}-all-lost.txt`);
    expect(result).toMatchObject({
      queriesSent: 40,
      queriesCompleted: 0,
      queriesLost: 40,
      latencySeconds: null,
    });
    expect(result?.responseCodes).toEqual({});
    expect(result?.averageResponseBytes).toBeNull();
  });

  it('reads interrupted queries, a line that appears only when there are some', () => {
    const { result } = parseFile('2.10.0-interrupted.txt');
    expect(result).toMatchObject({
      queriesSent: 53193,
      queriesCompleted: 53093,
      queriesLost: 0,
      queriesInterrupted: 100,
    });
  });

  it('reads the latency histogram of 2.14, whose bins add up to the completed queries', () => {
    const { result, unexpectedResponses } = parseFile('2.14.0-stalled-histogram.txt');
    const bins = result?.latencyHistogram ?? [];
    expect(bins.length).toBeGreaterThan(20);
    expect(bins.reduce((total, { count }) => total + count, 0)).toBe(result?.queriesCompleted);
    expect(unexpectedResponses).toBeGreaterThan(0);
  });

  it('has no result, but the complaint, when dnsperf refused to run', () => {
    const report = parseFile('2.10.0-nofile.txt');
    expect(report.result).toBeNull();
    expect(report.complaints).toEqual(['Error: unable to open file: nonexistent']);
  });

  it('finds complete statistics in every captured output that has some', () => {
    const names = readdirSync(folder).filter((name) => !name.includes('nofile'));
    expect(names.length).toBeGreaterThanOrEqual(13);
    for (const name of names) {
      const { result } = parseFile(name);
      if (result === null) throw new Error(`${name}: no result`);
      expect(result.queriesCompleted + result.queriesLost + result.queriesInterrupted, name).toBe(
        result.queriesSent,
      );
      expect(result.qps, name).toBeCloseTo(result.queriesCompleted / result.runTimeSeconds, 0);
    }
  });

  it('survives output that breaks off', () => {
    const lines = readFileSync(new URL('2.10.0-udp.txt', folder), 'utf8').split('\n');
    for (let count = 0; count < lines.length; count += 1) {
      expect(() => parseDnsperf(lines.slice(0, count))).not.toThrow();
    }
    expect(parseDnsperf(lines.slice(0, 15)).result).toBeNull();
  });
});

describe('parseInterval', () => {
  it('reads a line of -S', () => {
    expect(parseInterval('1795226157.839296: 46503.683015')).toEqual({
      unixSeconds: 1795226157.839296,
      qps: 46503.683015,
    });
  });

  it('knows how long the first interval was from the command line', () => {
    const { result } = parseFile('2.10.0-quarter-seconds.txt');
    expect(result?.intervals.map(({ atSeconds }) => Math.round(atSeconds * 100))).toEqual([
      25, 50, 75, 100, 125, 150, 175,
    ]);
  });

  it.each(['0.000029', '0.000000'])('does not believe a first rate of %s, and moves no other', (rate) => {
    const lines = readFileSync(new URL('2.10.0-quarter-seconds.txt', folder), 'utf8').split('\n');
    const sound = parseDnsperf(lines).result?.intervals ?? [];
    // dnsperf 2.10.0 divided the first interval by the seconds since 1970: 52,000 answers, or fewer than 900.
    const wrong = lines.map((line) => line.replace('998.841344', rate));
    expect(parseDnsperf(wrong).result?.intervals).toEqual(sound.slice(1));
    const heard: number[] = [];
    const request = { onStarted: () => undefined, onProgress: (qps: number) => heard.push(qps) };
    for (const line of wrong) DNSPERF.hear(line, request as unknown as LoadRequest);
    expect(heard.filter((qps) => qps > 0)).toEqual(sound.slice(1).map(({ qps }) => qps));
  });

  it('believes a later interval without an answer', () => {
    const { result } = parseFile('2.10.0-stalled.txt');
    expect(result?.intervals.map(({ qps }) => Math.round(qps))).toEqual([49_271, 0]);
  });

  it('ignores every other line', () => {
    expect(parseInterval('  Run time (s):         2.005080')).toBeNull();
  });
});
