import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Answers } from "./answers.js";
import { type Dataset, numbersOf } from "./dataset.js";

export interface ServeOptions {
  readonly dataset: Dataset;
  /** Milliseconds that every answer is held back. */
  readonly latency: number;
}

/** Serves a dataset on loopback until the process is killed; prints the port. */
export async function serve({ dataset, latency }: ServeOptions): Promise<void> {
  const answers = new Answers(dataset);
  const fields = Buffer.from('{"fields":[]}');
  const bodyOf = (url: string): Buffer | undefined => {
    const [path = "", query] = url.split("?");
    const [, , , , , id = "", , chunk = "", last] = path.split("/");
    if (path.endsWith("/built-in")) return fields;
    if (last === "child_chunks") return answers.children(numbersOf(id).document, chunk);
    const asked = new URLSearchParams(query);
    return answers.page(id, Number(asked.get("page")), Number(asked.get("limit")));
  };
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const body = bodyOf(request.url ?? "");
    const answer = () => {
      if (!body) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
      return response.end(body);
    };
    if (latency > 0) setTimeout(answer, latency);
    else answer();
  });
  server.listen(0, "127.0.0.1", () => {
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
  });
}
