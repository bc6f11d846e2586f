import { RetryError, SkipError, StopError } from "../errors.js";
import { plainText } from "../safe-text.js";
import { isReset, isSilence, jobFileNames, type SettingNames } from "./failed-request.js";
import { unreachable } from "./outage-gate.js";
import { baseUrlHint, errorFromAnswer, isUnknownUrl, ownError, refusalOf, textOf, titleOf } from "./refused-answer.js";
import type { Answer, Send } from "./retry.js";

interface FirstContactOptions {
  readonly key: string;
  /** Where the key came from, if known. */
  readonly keySource: string | undefined;
  readonly names: SettingNames;
  /** Aborted when the client stops. */
  readonly signal: AbortSignal;
  /** Whether the service has given a good answer. firstContact sets it. */
  readonly contact: { isMet: boolean };
  /** Whether to keep retrying a service that does not answer; default: false. */
  readonly patient?: boolean | undefined;
  /** Stops the client with this reason. */
  readonly stop: (reason: StopError) => void;
  /** Whether the address speaks TLS although it says http. */
  readonly speaksTls?: (() => Promise<boolean>) | undefined;
}

/**
 * Stops the client if the address is not the service, if the key is wrong, or after the second timeout. Once the service has
 * answered, only a wrong key stops it: other failures may be temporary.
 */
export function firstContact(send: Send, options: FirstContactOptions): Send {
  const { key, keySource, names, signal, stop, speaksTls, patient = false, contact } = options;
  let wasSilent = false;
  const end = (verdict: StopError) => {
    stop(verdict);
    return verdict;
  };
  const failed = async (error: unknown, isSecondTry: boolean) => {
    if (contact.isMet) return error;
    const isSilent = !patient && error instanceof RetryError && isSilence(error.cause);
    wasSilent ||= isSilent;
    const verdict = isSilent && isSecondTry ? unreachable(error, names) : await judgeFailure(error, names, speaksTls);
    signal.throwIfAborted();
    return verdict ? end(verdict) : error;
  };
  const judge = (answer: Answer) => {
    if (answer.status === 401) return errorFromAnswer(answer, key, keySource, names);
    return contact.isMet ? "service" : judgeAnswer(answer, key, names);
  };
  return async (request) => {
    const isSecondTry = wasSilent;
    const answer = await send(request).catch(async (error: unknown) => {
      throw await failed(error, isSecondTry);
    });
    signal.throwIfAborted(); // another request already stopped the client
    const judged = judge(answer);
    if (judged instanceof StopError) throw end(judged);
    contact.isMet ||= judged === "service";
    return answer;
  };
}

/** Judges whether an answer comes from the service. `unclear`: the failure may be temporary. */
export function judgeAnswer(
  answer: Answer,
  key: string,
  names: SettingNames = jobFileNames,
): "service" | "unclear" | StopError {
  const { status, url } = answer;
  if (status === 200) return judgeBody(answer, key, names);
  const error = errorFromAnswer(answer, key, undefined, names);
  if (!(error instanceof SkipError)) return "unclear";
  if (status >= 300 && status < 400) return new StopError(error.message, { status });
  const isOptional = optionalPath.test(url.split("?")[0] ?? "");
  if (status === 404 && isOptional) return "unclear";
  if (isWebPage(answer)) return noService(answer, webPage(answer, key), names);
  if (status === 404 && isUnknownUrl(refusalOf(answer, key))) return new StopError(error.message, { status });
  return typeof ownError(answer).code === "string" ? "service" : "unclear";
}

/** Routes that older services lack: metadata fields, tags, child lists, originals, and single datasets, documents and chunks. */
const optionalPath =
  /\/(built-in|child_chunks|metadata|tags|upload-file|download)$|\/datasets\/[^/]+(\/documents\/[^/]+(\/segments\/[^/]+)?)?$/;

function judgeBody(answer: Answer, key: string, names: SettingNames): "service" | "unclear" | StopError {
  if (isWebPage(answer)) return noService(answer, webPage(answer, key), names);
  const text = textOf(answer)
    .replace(/^\ufeff/, "")
    .trim();
  if (text === "") return noService(answer, "with an empty body", names);
  const isTagList = text.startsWith("[") && answer.url.endsWith("/datasets/tags"); // the only list that is not inside an object
  if (isTagList) return "unclear";
  if (!text.startsWith("{")) return noService(answer, `with ${plainText(text, key, 60)}`, names);
  if (isOtherJson(text, answer.url)) return noService(answer, `with ${plainText(text, key, 60)}`, names);
  return /"(data|fields)" *:/.test(text) ? "service" : "unclear";
}

/** Whether a text is a complete JSON object that this service never sends at this address. A truncated one may be complete next time. */
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
 * Every answer without pages has one of these fields. They belong to chunks, metadata fields, datasets and documents, metadata,
 * originals.
 */
const ownFields = ["data", "fields", "id", "doc_metadata", "url"];

async function judgeFailure(
  error: unknown,
  names: SettingNames,
  speaksTls: FirstContactOptions["speaksTls"],
): Promise<StopError | undefined> {
  if (!(error instanceof RetryError) || error.status !== undefined) return undefined;
  const isTls = (error.trouble === "no service" || isReset(error.cause)) && (await speaksTls?.());
  if (isTls)
    return new StopError(`${error.message}; the server speaks TLS: ${names.baseUrl} begins with https`, {
      cause: error,
    });
  return error.trouble === "no service" ? new StopError(error.message, { cause: error }) : undefined;
}

function noService({ url, status }: Answer, what: string, names: SettingNames): StopError {
  return new StopError(`GET ${url}: answered ${what}, not with the Knowledge API${baseUrlHint(url, names)}`, {
    status,
  });
}

function webPage(answer: Answer, key: string): string {
  const { status } = answer;
  const title = titleOf(textOf(answer)) === undefined ? "" : refusalOf(answer, key).message;
  return `with a web page (${[status, title].filter((part) => part !== "").join(" ")})`;
}

function isWebPage(answer: Answer): boolean {
  return /html/i.test(String(answer.headers["content-type"] ?? "")) || /^[\ufeff\s]*</.test(textOf(answer));
}
