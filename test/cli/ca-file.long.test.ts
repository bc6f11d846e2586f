import { expect, test } from "vitest";
import { json, serve } from "../client/serve.js";
import { testFolder } from "../run/job-for.js";
import { pemFile } from "../servers/certificates.js";
import { runKbdump } from "./run-kbdump.js";

const dataset = "7f0c2b1a-5d3e-4c6f-8a9b-0c1d2e3f4a5b";

test("--ca-file adds an authority that every connection of a command trusts", async () => {
  const folder = await testFolder();
  const { url } = await serve(json({ hello: "world" }), "one");
  const asks = [
    ["plan", "--base-url", url, "--dataset", dataset, "--document", "all"],
    ["init", "job.yaml", "--ask", "--base-url", url, "--dataset", dataset],
  ];
  for (const args of asks) {
    const ask = (...more: readonly string[]) =>
      runKbdump([...args, ...more, "--quiet"], { KNOWLEDGE_API_KEY: "dataset-k" }, folder);
    expect(await ask()).toMatchObject({ code: 1, stderr: expect.stringContaining("the certificate is not trusted") });
    const trusted = await ask("--ca-file", pemFile("one"));
    expect(trusted).toMatchObject({ code: 1, stderr: expect.stringContaining("Knowledge API") });
    expect(trusted.stderr).not.toContain("certificate");
    expect((await ask("--ca-file", pemFile("two"))).stderr).toContain("the certificate is not trusted");
  }
});
