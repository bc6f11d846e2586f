/** One GET request below the base URL. */
export interface Request {
  /** Begins with a slash; every segment percent-encoded. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
}

/** An answer whose body is in: decompressed, no longer than the bound. */
export interface Answer {
  readonly url: string;
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/**
 * The one port to the network. Resolves when the whole body is in, whatever the status; rejects with RetryError or
 * StopError when no answer came. Limit, pace and the like are wrappers of this type.
 */
export type Send = (request: Request) => Promise<Answer>;

/** `/datasets/x/documents` with its query, as it stands behind the base URL. */
export function targetOf(request: Request): string {
  const query = request.query.map((pair) => pair.map(percentEncoded).join("=")).join("&");
  return query ? `${request.path}?${query}` : request.path;
}

/** Encodes a part of a URL; a lone surrogate, which encodeURIComponent refuses, becomes U+FFFD. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** A path whose variables are percent-encoded, so that none can add a segment. */
export function pathOf(literals: TemplateStringsArray, ...variables: readonly string[]): string {
  return String.raw({ raw: literals }, ...variables.map(segment));
}

/** The encoding leaves "." and ".." as they are, which a URL resolves away. */
function segment(text: string): string {
  return percentEncoded(text).replace(/^\.{1,2}$/, (dots) => dots.replaceAll(".", "%2E"));
}
