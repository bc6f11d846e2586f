// node --expose-gc --max-semi-space-size=1 old-space.mjs BASE_URL: prints how many bytes per request V8 moves to old space
import { getHeapSpaceStatistics } from "node:v8";
import { openHttp } from "../../../dist/client/open-client.js";

const [baseUrl] = process.argv.slice(2);
const { signal } = new AbortController();
const http = openHttp({ baseUrl, key: "k", connections: 8, timeout: 60, maxBody: 1e6, signal, env: {}, onBytes() {} });
const requests = 6_000;

async function send(count) {
  let left = count;
  const sendSome = async () => {
    while (left-- > 0) await http.send({ path: "/x", query: [] });
  };
  await Promise.all(Array.from({ length: 8 }, sendSome));
}

const oldBytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space").space_used_size;

await send(requests); // warms up: compiles code and fills caches that stay
let before = 0;
const all = send(requests);
setTimeout(() => {
  gc(); // moves objects in use to old space, so that they do not count as growth
  before = oldBytes();
}, 50);
await all;
process.stdout.write(`${(oldBytes() - before) / requests}\n`);
await http.close();
