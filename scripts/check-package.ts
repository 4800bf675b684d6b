/**
 * Refuses to pack a package that would not work for its users: the last step of each package's `prepack`, for the package of the
 * current folder. `problemsOf` does the work; see `package-problems.ts`.
 */
import { readFileSync } from 'node:fs';
import { problemsOf } from './package-problems.ts';

const problems = problemsOf(process.cwd(), JSON.parse(readFileSync('package.json', 'utf8')));
for (const problem of problems) console.error(`Error: not packed: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;
