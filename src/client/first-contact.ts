import { RetryError, SkipError, StopError, UnknownRouteError } from "../errors.js";
import { plainText } from "../safe-text.js";
import { isReset, isSilence, jobFileNames, type MessageFacts } from "./failed-request.js";
import { unreachable } from "./outage-gate.js";
import { baseUrlHint, errorFromAnswer, ownError, refusalOf, textOf, titleOf } from "./refused-answer.js";
import type { Answer, Send } from "./retry.js";

interface FirstContactOptions extends MessageFacts {
  /** Aborted when the client stops. */
  readonly signal: AbortSignal;
  /** Whether the service has ever given a good answer. firstContact sets it. */
  readonly contact: { isMet: boolean };
  /** Whether to keep retrying a service that does not answer. */
  readonly patient: boolean;
  /** Stops the client with this reason. */
  readonly stop: (reason: StopError) => void;
  /** Whether the address speaks TLS although it says http. */
  readonly speaksTls: (() => Promise<boolean>) | undefined;
}

/**
 * Stops the client if the address is not the service, if the key is wrong, or after the second timeout. Once the service has
 * answered, only a wrong key stops it: other failures may be temporary.
 */
export function firstContact(send: Send, options: FirstContactOptions): Send {
  const { signal, stop, patient, contact } = options;
  let wasSilent = false;
  const end = (verdict: StopError) => {
    stop(verdict);
    return verdict;
  };
  const failed = async (error: unknown, isSecondTry: boolean) => {
    if (contact.isMet) return error;
    const isSilent = !patient && error instanceof RetryError && isSilence(error.cause);
    wasSilent ||= isSilent;
    const verdict = isSilent && isSecondTry ? unreachable(error, options) : await judgeFailure(error, options);
    signal.throwIfAborted();
    return verdict ? end(verdict) : error;
  };
  return async (request) => {
    const isSecondTry = wasSilent;
    const answer = await send(request).catch(async (error: unknown) => {
      throw await failed(error, isSecondTry);
    });
    signal.throwIfAborted(); // another request already stopped the client
    const judged =
      answer.status === 401 ? errorFromAnswer(answer, options) : contact.isMet || judgeAnswer(answer, options);
    if (judged instanceof StopError) throw end(judged);
    contact.isMet ||= judged === "service";
    return answer;
  };
}

/**
 * Decides whether an answer comes from the service rather than from another server. `unclear`: the answer does not show it, or
 * the failure may be temporary. For an answer of another server, returns the error that ends the run.
 */
export function judgeAnswer(answer: Answer, facts: MessageFacts): "service" | "unclear" | StopError {
  const { status, url } = answer;
  if (status === 200) return judgeBody(answer, facts);
  const error = errorFromAnswer(answer, facts);
  if (!(error instanceof SkipError)) return "unclear";
  if (status >= 300 && status < 400) return new StopError(error.message, { status });
  const isOptional = optionalPath.test(url.split("?")[0] ?? "");
  if (status === 404 && isOptional) return "unclear";
  if (isWebPage(answer)) return noService(answer, facts);
  if (error instanceof UnknownRouteError) return new StopError(error.message, { status });
  return typeof ownError(answer).code === "string" ? "service" : "unclear";
}

/** Routes that older services lack: metadata fields, tags, child lists, originals, and single datasets, documents and chunks. */
const optionalPath =
  /\/(built-in|child_chunks|metadata|tags|upload-file|download)$|\/datasets\/[^/]+(\/documents\/[^/]+(\/segments\/[^/]+)?)?$/;

function judgeBody(answer: Answer, facts: MessageFacts): "service" | "unclear" | StopError {
  const text = textOf(answer)
    .replace(/^\ufeff/, "")
    .trim();
  if (isWebPage(answer) || text === "") return noService(answer, facts);
  const isTagList = text.startsWith("[") && answer.url.endsWith("/datasets/tags"); // the only list that is not inside an object
  if (isTagList) return "unclear";
  if (!text.startsWith("{") || isOtherJson(text, answer.url)) return noService(answer, facts);
  return /"(data|fields)" *:/.test(text) ? "service" : "unclear";
}

/**
 * Whether a text is a complete JSON object that the service never sends for this URL, so another server sent it. A truncated
 * text does not count: the next answer may be complete.
 */
function isOtherJson(text: string, url: string): boolean {
  try {
    const object: Readonly<Record<string, unknown>> = JSON.parse(text);
    if (/[?&]page=/.test(url)) return !Array.isArray(object.data) || !Number.isInteger(object.total);
    return !ownFields.some((name) => name in object);
  } catch {
    return false;
  }
}

/**
 * Fields that identify an answer without pages as the service's: each has at least one of them. In this order, they belong to
 * chunks, metadata fields, datasets and documents, metadata, and originals.
 */
const ownFields = ["data", "fields", "id", "doc_metadata", "url"];

async function judgeFailure(
  error: unknown,
  { names = jobFileNames, speaksTls }: FirstContactOptions,
): Promise<StopError | undefined> {
  if (!(error instanceof RetryError) || error.status !== undefined) return undefined;
  const isOther = error.trouble === "no service";
  const isTls = (isOther || isReset(error.cause)) && (await speaksTls?.());
  const hint = isTls ? `; the server speaks TLS: ${names.baseUrl} begins with https` : "";
  return isTls || isOther ? new StopError(`${error.message}${hint}`, { cause: error }) : undefined;
}

/** The error for an answer that does not come from the service. */
function noService(answer: Answer, facts: MessageFacts): StopError {
  const { url, status } = answer;
  const text = textOf(answer);
  const title = titleOf(text) === undefined ? "" : ` ${refusalOf(answer, facts.key).message}`;
  const page = isWebPage(answer) ? `a web page (${`${status}${title}`.trim()})` : undefined;
  const what = page ?? (plainText(text, facts.key, 60) || "an empty body");
  return new StopError(
    `GET ${url}: the server answered with ${what}, not with the Knowledge API${baseUrlHint(url, facts)}`,
    {
      status,
    },
  );
}

function isWebPage(answer: Answer): boolean {
  return /html/i.test(String(answer.headers["content-type"] ?? "")) || /^[\ufeff\s]*</.test(textOf(answer));
}
