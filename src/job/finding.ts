/** A place in a job file: `["datasets", 0, "id"]`. */
export type Path = readonly (string | number)[];

/** One thing wrong in a job file; it becomes a Problem when its place is put into words. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
}

/** Whether `path` is `ancestor` or lies below it. */
export function isWithin(path: Path, ancestor: Path): boolean {
  return path.length >= ancestor.length && ancestor.every((key, depth) => path[depth] === key);
}

/**
 * Joins lists of findings, the most telling list first. A finding is left out where an earlier list already names its
 * place or one above: nobody needs to know what is wrong with a value that has to go.
 */
export function joinFindings(...lists: readonly (readonly Finding[])[]): readonly Finding[] {
  let joined: readonly Finding[] = [];
  for (const list of lists) {
    const earlier = joined;
    joined = earlier.concat(list.filter(({ path }) => !earlier.some((one) => isWithin(path, one.path))));
  }
  return joined;
}
