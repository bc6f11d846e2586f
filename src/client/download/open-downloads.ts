import { SkipError, StopError } from "../../errors.js";
import { tool } from "../../tool.js";
import { type ConnectionOptions, type Connections, openConnections, unlessAborted } from "../connections.js";
import { failedRequest } from "../failed-request.js";
import type { Client } from "../open-client.js";
import type { RequestTally } from "../request-tally.js";
import { answerError, fileUrl, redirectFrom } from "./file-answer.js";
import { takePieces } from "./piece-queue.js";
import { Silence } from "./silence.js";

export interface DownloadOptions extends Omit<ConnectionOptions, "timeout"> {
  readonly baseUrl: string;
  /** Sent to the origin of the base URL, and nowhere else. */
  readonly key: string;
  /** Seconds without a byte after which a download is given up; a large file may take as long as it needs. */
  readonly timeout: number;
  readonly tally: RequestTally;
}

/** A file whose first bytes are there. */
export interface IncomingFile {
  /** The bytes that Content-Length announces; null where nothing does. */
  readonly announced: number | null;
  /** Rejects with RetryError where it breaks off or falls silent. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/**
 * Fetches a file from an address, which may be relative to the service or lead to a file store. One try: RetryError for what
 * may pass, SkipError for the rest. Messages name the origin alone, because the rest of an address can be a signature.
 */
export type Download = <T>(address: string, take: (file: IncomingFile) => Promise<T>) => Promise<T>;

export interface Downloads {
  readonly download: Download;
  readonly close: () => Promise<void>;
}

const mostRedirects = 5;

/** Downloads are the only requests whose redirects are followed. They keep to the pace of the client, and end with it. */
export function openDownloads(client: Pick<Client, "turn" | "signal">, options: DownloadOptions): Downloads {
  const base = new URL(options.baseUrl);
  const pools = new Map<string, Connections>();
  const poolFor = (url: URL): Connections => {
    const timeout = Math.min(options.timeout, 10) * 1000;
    const pool = pools.get(url.origin) ?? openConnections(url, { ...options, timeout });
    pools.set(url.origin, pool);
    return pool;
  };

  const download: Download = async (address, take) => {
    let url = urlFrom(address, base);
    let isHome = true;
    for (let redirects = 0; ; redirects++) {
      isHome &&= url.origin === base.origin; // never again, once a redirect has left it
      const silence = new Silence(options.timeout, client.signal);
      try {
        const answer = await request(url, isHome, silence);
        const next = redirectFrom(answer, url);
        if (!next) return await take(fileFrom(answer, url, silence));
        if (redirects === mostRedirects) throw new SkipError(`GET ${url.origin}: more than ${mostRedirects} redirects`);
        url = next;
      } finally {
        silence.end(); // and with it the connection, if something is left of the body
      }
    }
  };

  async function request(url: URL, isHome: boolean, silence: Silence) {
    await client.turn();
    options.tally.sent++;
    const headers = {
      ...(isHome ? { authorization: `Bearer ${options.key}` } : {}),
      accept: "*/*",
      "accept-encoding": "identity", // compressed, a file has another size than the service says
      "user-agent": `${tool.name}/${tool.version}`,
    };
    const path = url.pathname + url.search;
    const { signal } = silence;
    try {
      const { dispatcher } = poolFor(url);
      const sent = dispatcher.request({ origin: url.origin, method: "GET", path, headers, signal });
      const answer = await silence.during(unlessAborted(sent, signal));
      options.tally.answered++;
      answer.body.on("error", () => {}); // its reader gets the error, too; after a redirect there is none
      const error = answerError(answer, url);
      if (error) throw error;
      return answer;
    } catch (error) {
      throw failure(error, url);
    }
  }

  function fileFrom(answer: Awaited<ReturnType<typeof request>>, url: URL, silence: Silence): IncomingFile {
    const next = takePieces(answer.body);
    async function* pieces() {
      for (;;) {
        const piece = await silence.during(next()).catch((error: unknown) => {
          throw failure(error, url);
        });
        if (!piece) return;
        options.tally.bytes += piece.length;
        yield piece;
      }
    }
    const length = String(answer.headers["content-length"] ?? "");
    return { announced: /^\d{1,15}$/.test(length) ? Number(length) : null, pieces: pieces() };
  }

  /** Nothing that a file store answers ends the run. */
  function failure(error: unknown, { origin }: URL): Error {
    client.signal.throwIfAborted();
    if (error instanceof SkipError) return error;
    const failed = failedRequest(error, origin, { names: options.names });
    return failed instanceof StopError ? new SkipError(failed.message) : failed;
  }

  return {
    download,
    close: async () => {
      await Promise.all([...pools.values()].map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

function urlFrom(address: string, base: URL): URL {
  const url = fileUrl(address, base);
  if (!url) throw new SkipError("the address of the file is no http or https URL");
  return url;
}
