// The floor, which no reader can beat: requests the URLs of a dump through the same kind of Pool, with the same concurrency, and
// discards the bodies. Usage: node floor.mjs BASE_URL DATASET_JSON IN_FLIGHT. Plain JavaScript, so that no other code is loaded.
// Reads the child list of every chunk if DATASET_JSON has childLists.
import { Pool } from "undici";

const [baseUrl = "", dataset = "", inFlight = ""] = process.argv.slice(2);
const { id, documents, chunks, childLists } = JSON.parse(dataset);
const { origin, pathname } = new URL(baseUrl);
const pool = new Pool(origin, { connections: Number(inFlight), headersTimeout: 0, bodyTimeout: 0 });
const headers = { authorization: "Bearer bench", accept: "application/json", "accept-encoding": "gzip, deflate, br" };

function* paths() {
  for (const { id: document, chunkIds } of documentsOf()) {
    const segments = `${pathname}/datasets/${id}/documents/${document}/segments`;
    for (let page = 1; page <= Math.ceil(chunks / 100); page++) yield `${segments}?page=${page}&limit=100`;
    if (childLists) for (const chunk of chunkIds()) yield `${segments}/${chunk}/child_chunks?page=1&limit=100`;
  }
}

function* documentsOf() {
  for (let at = 0; at < documents; at++) {
    const prefix = at.toString(16).padStart(8, "0");
    const chunkIds = function* () {
      for (let chunk = 0; chunk < chunks; chunk++)
        yield `${prefix}-0000-4000-8000-${chunk.toString(16).padStart(12, "0")}`;
    };
    yield { id: `${prefix}-0000-4000-8000-d0c000000000`, chunkIds };
  }
}

const queue = paths();
await Promise.all(
  Array.from({ length: Number(inFlight) }, async () => {
    for (const path of queue) {
      const { statusCode, body } = await pool.request({ method: "GET", path, headers });
      if (statusCode !== 200) throw new Error(`${path}: ${statusCode}`);
      // undici takes Infinity for its default of 128 KB, and closes the connection of every longer answer.
      await body.dump({ limit: Number.MAX_SAFE_INTEGER });
    }
  }),
);
await pool.close();
