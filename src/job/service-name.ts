import type { ServiceOptions } from "./job.js";

/** The base URL of a service, or `demo` for the embedded one, which has another port at every start. */
export function serviceName({ demo, baseUrl }: Pick<ServiceOptions, "demo" | "baseUrl">): string {
  return demo ? "demo" : baseUrl;
}
