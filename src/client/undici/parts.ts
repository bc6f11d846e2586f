import { createRequire } from "node:module";
import type undici from "undici";

/** The parts of undici that send requests. */
type Parts = Pick<typeof undici, "buildConnector" | "Dispatcher" | "EnvHttpProxyAgent" | "errors" | "Pool">;

export const { buildConnector, Dispatcher, EnvHttpProxyAgent, errors, Pool } = loadParts(
  createRequire(import.meta.url),
);

/**
 * Loads the files of undici that hold these parts. Its entry takes three times as long, since it loads fetch, WebSocket, caches and
 * mocks, too. The files are no public interface: where another version of undici has moved or changed them, this loads the entry.
 */
export function loadParts(load: NodeJS.Require): Parts {
  try {
    const parts: Parts = {
      buildConnector: load("undici/lib/core/connect"),
      Dispatcher: load("undici/lib/dispatcher/dispatcher"),
      EnvHttpProxyAgent: load("undici/lib/dispatcher/env-http-proxy-agent"),
      errors: load("undici/lib/core/errors"),
      Pool: load("undici/lib/dispatcher/pool"),
    };
    const { errors: _, ...functions } = parts;
    if (Object.values(functions).some((part) => typeof part !== "function")) return load("undici");
    Object.assign(parts.Dispatcher.prototype, load("undici/lib/api")); // the entry does so, too: request() is there
    return parts;
  } catch {
    return load("undici");
  }
}
