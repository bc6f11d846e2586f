/** A list: the chunks of a document, or the children of one of its chunks. */
export interface ListName {
  readonly document: string;
  readonly chunk: string | undefined;
}

/** The list that a path requests; undefined for any other path. */
export function listOf(path: string): ListName | undefined {
  const match = /\/documents\/([^/]+)\/segments(?:\/([^/]+)\/child_chunks)?$/.exec(path);
  return match?.[1] === undefined ? undefined : { document: match[1], chunk: match[2] };
}
