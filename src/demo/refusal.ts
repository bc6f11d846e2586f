/** The answers to refused requests; the codes are those of the service that this one stands in for. */

type RefusalStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 500;

/** Thrown wherever a request cannot be answered with 200; the routes turn it into `{code, message, status}`. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: RefusalStatus;
  readonly code: string;
  /** The methods that may be used, where another was. */
  readonly allow: string | undefined;

  constructor(status: RefusalStatus, code: string, message: string, allow?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.allow = allow;
  }
}

/** Thrown where an older service has no such path at all: 404 with an HTML page, whose title the message is. It is plain text without markup. */
export class UnknownPath extends Error {
  override readonly name = "UnknownPath";
}

type Missing = "Dataset" | "Document" | "Documents" | "Segment" | "Child chunk" | "Tag" | "Metadata" | "File";

/** 404 for an id that is unknown or malformed; the service does not tell the two apart. */
export function notFound(what: Missing, why = ""): Refusal {
  return new Refusal(404, "not_found", `${what} not found.${why && ` ${why}`}`);
}

/** 400 for a request that cannot be done as it is: a parameter, or a rule of the service that it breaks. */
export function invalidParam(message: string): Refusal {
  return new Refusal(400, "invalid_param", message);
}

/** 401 for a missing, malformed or wrong key; which of the three is not said. */
export function unauthorized(): Refusal {
  return new Refusal(401, "unauthorized", "Access token is invalid");
}

/** 405 for every method but those that may be used. */
export function methodNotAllowed(allowed: readonly string[]): Refusal {
  const allow = [...new Set(allowed)].join(", ");
  return new Refusal(405, "method_not_allowed", "The method is not allowed for the requested URL.", allow);
}

/** 404 for a document that takes no chunks as long as it is not indexed, or is disabled. */
export function notReady(state: "not completed" | "disabled"): Refusal {
  return new Refusal(404, "not_found", `Document is ${state}.`);
}

/** 400 for a document that is being indexed. */
export function beingIndexed(): Refusal {
  return new Refusal(400, "document_indexing", "Cannot operate document during indexing.");
}
