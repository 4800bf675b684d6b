/** tiger-bench's environment variables. Pure. */

type Variables = Readonly<Record<string, string | undefined>>;

/** `BENCH_NAME` wins over `NAME`; an empty one counts as missing. */
function variable(env: Variables, name: string): string | undefined {
  const values = [env[`BENCH_${name}`], env[name]];
  return values.find((value) => value !== undefined && value !== '');
}

export function tigerEnvironment(env: Variables) {
  return {
    /** The tests. */
    testsFile: variable(env, 'TESTCONFIGFILE'),
    resultsFile: variable(env, 'RESULTS_FILE'),
    /** No report without it. */
    junitFile: variable(env, 'JUNIT_REPORT_FILE'),
    /** Copied into the results. */
    releaseStream: variable(env, 'RELEASE_STREAM') ?? '',
  };
}
