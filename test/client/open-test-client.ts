import { onTestFinished } from "vitest";
import { type Client, type ClientOptions, openClient } from "../../src/client/open-client.js";
import { testKey } from "./open-test-http.js";

/** A client for one test; by default, no retries and a timeout of 5 s. */
export function openTestClient(baseUrl: string, options: Partial<ClientOptions> = {}): Client {
  const client = openClient({ baseUrl, key: testKey, retries: 0, timeout: 5, ...options });
  onTestFinished(client.close);
  return client;
}
