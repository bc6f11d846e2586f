/** One process that reads a service under shared bounds until it is killed: `node reader.mjs <broker> <service> <name> <concurrency>`. */

import { openClient } from "../../../dist/client/open-client.js";
import { openSharedBounds } from "../../../dist/parallel/bounds/open-shared-bounds.js";
import { openBroker } from "../../../dist/parallel/broker.js";

const [url, service, name, concurrency] = process.argv.slice(2);
const broker = await openBroker(url);
const options = { service, concurrency: Number(concurrency) };
const shared = openSharedBounds(broker, { ...options, say: () => {} });
const client = openClient({ baseUrl: service, key: "dataset-key", concurrency: options.concurrency, shared });
const loop = async () => {
  for (;;) await client.documents(name, 1);
};
await Promise.all(Array.from({ length: options.concurrency }, loop));
