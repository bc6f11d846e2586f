/** A file that cannot be read as rows of its kind, from some place on. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
}
