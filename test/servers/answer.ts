import type { Fault } from "./faults.js";
import type { JsonObject } from "./json.js";

/** An answer before serialization: a JSON body, an HTML page or, with neither, an empty body. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: JsonObject;
  readonly html?: string;
}

/** An error of the service. */
export function errorAnswer(status: number, code: string, message: string): Answer {
  return { status, json: { code, message, status } };
}

/** An error of a proxy or web server. */
export function htmlAnswer(status: number, title: string): Answer {
  const head = `<!doctype html>\n<html lang="en">\n<title>${status} ${title}</title>\n`;
  return { status, html: `${head}<h1>${title}</h1>\n<p>nginx &lt;upstream&gt;</p>\n</html>\n` };
}

/** A 404 with the suffix that the service's web framework adds to the message. */
export function notFoundAnswer(what: string, path: string): Answer {
  const suffix = `You have requested this URI [${path}] but did you mean ${path.slice(0, path.lastIndexOf("/"))} ?`;
  return errorAnswer(404, "not_found", `${what} not found. ${suffix}`);
}

const reasons: Readonly<Record<number, string>> = {
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Time-out",
};

function statusAnswer(fault: Extract<Fault, { kind: "status" }>): Answer {
  const { status, headers = {}, body = "json" } = fault;
  const title = reasons[status] ?? `Error ${status}`;
  if (body === "empty") return { status, headers };
  if (body === "html") return { ...htmlAnswer(status, title), headers };
  const code = fault.code ?? title.toLowerCase().replaceAll(/\W+/g, "_");
  return { ...errorAnswer(status, code, fault.message ?? title), headers };
}

function without(json: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([name]) => name !== field));
}

function withoutFirstId(json: JsonObject): JsonObject {
  if (!Array.isArray(json.data)) return json;
  const [first, ...rest] = json.data;
  if (typeof first !== "object" || first === null || Array.isArray(first)) return json;
  return { ...json, data: [without(first, "id"), ...rest] };
}

/**
 * The answer for a fault. A fault that only affects the bytes or the connection gets the correct answer. `pageOne` returns the answer
 * for page 1 of the same list.
 */
export function faultyAnswer(fault: Fault, rightOne: () => Answer, pageOne: () => Answer): Answer {
  if (fault.kind === "status") return statusAnswer(fault);
  if (fault.kind === "redirect") return { status: fault.status ?? 302, headers: { location: fault.location } };
  if (fault.kind === "ok-with-error-body") {
    return { status: 200, json: { code: "internal_server_error", message: "Internal Server Error", status: 500 } };
  }
  const right = rightOne();
  const { json } = right;
  if (!json) return right;
  switch (fault.kind) {
    case "empty-page":
      return { ...right, json: { ...json, data: [] } };
    case "repeated-page":
      return { ...right, json: { ...json, data: pageOne().json?.data ?? null } };
    case "missing-data":
      return { ...right, json: without(json, "data") };
    case "missing-total":
      return { ...right, json: without(json, "total") };
    case "missing-id":
      return { ...right, json: withoutFirstId(json) };
    default:
      return right;
  }
}
