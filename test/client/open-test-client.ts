import { onTestFinished } from "vitest";
import { type Client, type ClientOptions, openClient } from "../../src/client/open-client.js";
import { testKey } from "./open-test-http.js";

/** A client for one test: no retries and 5 s for a request, unless said otherwise. */
export function openTestClient(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  const client = openClient({ baseUrl, key: testKey, retries: 0, timeout: 5, ...options });
  onTestFinished(client.close);
  return client;
}
