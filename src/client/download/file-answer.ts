import { RetryError, SkipError } from "../../errors.js";
import { retryAfter } from "../check-answer.js";

/** An answer as undici gives it, as far as it is looked at here. */
interface Headed {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const transient = new Set([408, 425, 429]);
const redirects = new Set([301, 302, 303, 307, 308]);

/** The error that an answer stands for; undefined for a file and for a redirect. Its body is not shown: it can hold a signature. */
export function answerError(
  { statusCode: status, headers }: Headed,
  { origin }: URL,
): RetryError | SkipError | undefined {
  if (redirects.has(status)) return undefined;
  if (transient.has(status) || status >= 500) {
    const after = retryAfter(headers["retry-after"]);
    return new RetryError(`GET ${origin}: ${status}`, {
      status,
      ...(after === undefined ? {} : { retryAfter: after }),
    });
  }
  if (status !== 200) return new SkipError(`GET ${origin}: ${status}`, { status });
  const encoding = String(headers["content-encoding"] ?? "identity").trim();
  if (/^(identity)?$/i.test(encoding)) return undefined;
  return new SkipError(`GET ${origin}: the file came compressed, which nobody asked for`, { status });
}

/** The URL that an address is, perhaps relative to another; undefined for anything but http and https. */
export function fileUrl(address: string, base: URL): URL | undefined {
  const url = address !== "" && URL.canParse(address, base.href) ? new URL(address, base) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** The URL that a redirect leads to; undefined for any other answer. SkipError if it is not http or https. */
export function redirectFrom({ statusCode: status, headers: { location } }: Headed, from: URL): URL | undefined {
  if (!redirects.has(status)) return undefined;
  const [address = ""] = [location].flat();
  const url = fileUrl(address, from);
  if (url) return url;
  throw new SkipError(`GET ${from.origin}: redirected to an address that is no http or https URL`, { status });
}
