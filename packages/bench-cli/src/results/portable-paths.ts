/**
 * Makes paths in a record meaningful on other machines: those below the working directory become relative to it,
 * those below the home directory begin with `~`. Pure.
 */
export interface PathRoots {
  readonly cwd: string;
  readonly home: string | undefined;
}

/** A copy of `value` in which every string has portable paths. */
export function withPortablePaths<T>(value: T, roots: PathRoots): T {
  const replacements = [[roots.cwd, ''] as const, [roots.home ?? '', '~/'] as const]
    .filter(([root]) => root.length > 1)
    .map(([root, short]) => [`${root.replace(/\/$/, '')}/`, short] as const)
    // The longer root first: a working directory usually lies in the home directory.
    .sort(([a], [b]) => b.length - a.length);
  return withTexts(value, (item) =>
    replacements.reduce((text, [root, short]) => replaceRoot(text, root, short), item),
  );
}

/** Absolute paths below the working directory as relative ones, so that a file has one name: see `plainPath`. */
export function withRelativePaths<T>(value: T, cwd: string): T {
  return withTexts(value, (text) => {
    const relative = cwd === '/' ? text : replaceRoot(text, `${cwd}/`, './');
    return relative === text ? text : plainPath(relative);
  });
}

/** `queries.txt` for `./queries.txt`; but `./half` stays, since a plain word has a meaning of its own. */
export function plainPath(path: string): string {
  return /^\.\/[^./-][^./]*[./]/.test(path) ? path.slice('./'.length) : path;
}

/** The inverse of `~`, so that files below the home directory can be found again. */
export function withHomePaths<T>(value: T, home: string | undefined): T {
  return home === undefined ? value : withTexts(value, (text) => replaceRoot(text, '~/', `${home}/`));
}

/** A copy of `value` with every string changed. */
function withTexts<T>(value: T, change: (text: string) => string): T {
  const visit = (item: unknown): unknown => {
    if (typeof item === 'string') return change(item);
    if (Array.isArray(item)) return item.map(visit);
    if (typeof item === 'object' && item !== null) {
      return Object.fromEntries(Object.entries(item).map(([key, entry]) => [key, visit(entry)]));
    }
    return item;
  };
  return visit(value) as T;
}

/** Only where a path begins: `/home/a/` is not part of `/mnt/home/a/`. */
function replaceRoot(text: string, root: string, short: string): string {
  if (!text.includes(root)) return text;
  const escaped = root.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.replaceAll(new RegExp(`(?<![\\w.~/-])${escaped}`, 'g'), short);
}
