import { once } from "node:events";
import type { Argv } from "yargs";
import { exitCodes, StopError, UsageError } from "../errors.js";
import type { Command } from "./command.js";

const epilog = `Example:
  kbdump serve --demo --port 8080 --key local-key

A document of the demo can be indexed anew, as if somebody had changed its chunk settings: every chunk is replaced, and
what was made or edited by hand is lost. This is no part of the interface, and takes 5 seconds, or as many as seconds= says:
  curl -X POST -H "Authorization: Bearer local-key" "http://127.0.0.1:8080/demo/reindex/DOCUMENT_ID?seconds=20"
The answer names the new batch, whose status can be watched; with -H "Accept: text/plain" it is nothing else.

Exit codes: 0 stopped by SIGINT or SIGTERM · 1 the port cannot be had · 2 wrong usage`;

const options = (yargs: Argv) =>
  yargs
    .option("demo", { type: "boolean", default: false, describe: "serve the built-in sample data" })
    .option("port", { type: "number", default: 0, describe: "port on 127.0.0.1; 0 takes a free one" })
    .option("key", { type: "string", describe: "the key that requests must carry; a random one by default" })
    .option("json", { type: "boolean", default: false, describe: "print the address as one JSON object" })
    .epilog(epilog);

/** `kbdump serve --demo`: the embedded service with its sample data, on loopback, until a signal ends it. */
export const serveCommand: Command = {
  name: "serve",
  about: "answer the read operations from built-in sample data",
  register: (yargs, world, done) =>
    yargs.command(serveCommand.name, serveCommand.about, options, async ({ demo, port, key, json }) => {
      const problems = [
        ...(demo ? [] : [{ path: "--demo", message: "expected; only the sample data can be served in this version" }]),
        ...(isPort(port) ? [] : [{ path: "--port", message: `got ${port}, expected a whole number from 0 to 65535` }]),
        ...(key === "" ? [{ path: "--key", message: "expected a text that is not empty" }] : []),
      ];
      if (problems.length > 0) throw new UsageError("Nothing can be served:", problems);
      const { startService } = await import("../service/start-service.js");
      const service = await startService({ port, ...(key === undefined ? {} : { key }) }).catch((error: Error) => {
        throw new StopError(error.message, { cause: error });
      });
      const address = { base_url: service.url, key: service.key };
      world.stdout.write(
        json ? `${JSON.stringify(address)}\n` : `base_url: ${service.url}\nkey:      ${service.key}\n`,
      );
      if (!world.signal.aborted) await once(world.signal, "abort");
      await service.close();
      done(exitCodes.complete);
    }),
};

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 0 && port <= 65_535;
}
