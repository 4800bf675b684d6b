/** tiger-bench's environment variables. Pure. */

export interface TigerEnvironment {
  /** TESTCONFIGFILE: the tests. */
  readonly testsFile: string | undefined;
  /** RESULTS_FILE: where the results go. */
  readonly resultsFile: string | undefined;
  /** JUNIT_REPORT_FILE: no report without it. */
  readonly junitFile: string | undefined;
  /** RELEASE_STREAM: copied into the results; empty without it. */
  readonly releaseStream: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** `BENCH_NAME` wins over `NAME`; an empty one counts as missing. */
function variable(env: Variables, name: string): string | undefined {
  const values = [env[`BENCH_${name}`], env[name]];
  return values.find((value) => value !== undefined && value !== '');
}

export function tigerEnvironment(env: Variables): TigerEnvironment {
  return {
    testsFile: variable(env, 'TESTCONFIGFILE'),
    resultsFile: variable(env, 'RESULTS_FILE'),
    junitFile: variable(env, 'JUNIT_REPORT_FILE'),
    releaseStream: variable(env, 'RELEASE_STREAM') ?? '',
  };
}
