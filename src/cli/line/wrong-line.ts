import { type Problem, UsageError } from "../../errors.js";

/** The error of a wrong command line: one sentence, or a list of several. */
export function wrongLine(problems: readonly Problem[]): UsageError {
  const [first] = problems;
  if (first === undefined || problems.length > 1)
    return new UsageError(`${problems.length} problems with the command line:`, problems);
  return new UsageError(first.path === "" ? first.message : `${first.path}: ${first.message}`, problems, []);
}
