import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { StopError, UsageError } from "../../../src/errors.js";
import { inFull } from "../../rounds.js";
import { pemFile } from "../../servers/certificates.js";
import { openTestHttp, rejection } from "../open-test-http.js";
import { json, serve } from "../serve.js";

describe("the certificate of the service", () => {
  it("stops the run without a trusted certificate, before anything is sent", async () => {
    const { url, requests } = await serve(json({}), "one");
    const error = await rejection(openTestHttp(url).get());
    expect(error).toBeInstanceOf(StopError);
    const what = "the certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); service.ca_file names";
    expect(error.message).toContain(`GET ${url}/x: ${what}`);
    expect(requests).toHaveLength(0);
  });

  it("is trusted when caFile vouches for it", async () => {
    const { url } = await serve(json({ fine: true }), "one");
    const { status, body } = await openTestHttp(url, { caFile: pemFile("one") }).get();
    expect([status, Buffer.from(body).toString()]).toEqual([200, '{"fine":true}']);
  });

  it("may be any of several in the file, with text between them", async () => {
    const folder = await mkdtemp(join(tmpdir(), "kbdump-ca-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const caFile = join(folder, "ca.pem");
    const both = await Promise.all([pemFile("two"), pemFile("one")].map((file) => readFile(file, "utf8")));
    await writeFile(caFile, `Our authorities\n\n${both.join("\nand\n")}`);
    for (const certificate of ["one", "two"]) {
      const { url } = await serve(json({}), certificate);
      expect((await openTestHttp(url, { caFile }).get()).status).toBe(200);
    }
  });

  it.each([
    ["two", "one", "DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["expired", "expired", "CERT_HAS_EXPIRED"],
    ["other-name", "other-name", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ])("%s with caFile %s is refused (%s)", async (certificate, ca, code) => {
    const { url, requests } = await serve(json({}), certificate);
    const error = await rejection(openTestHttp(url, { caFile: pemFile(ca) }).get());
    expect(error).toBeInstanceOf(StopError);
    expect(error.message).toContain(code);
    expect(error.message.includes("service.ca_file")).toBe(code === "DEPTH_ZERO_SELF_SIGNED_CERT"); // a CA file helps
    expect(requests).toHaveLength(0);
  });

  it("https to a service that speaks http, is no matter of trust", async () => {
    const { url } = await serve(json({}));
    const error = await rejection(openTestHttp(url.replace("http:", "https:")).get());
    expect(error.name).toBe("RetryError");
    expect(error.message).toBe(
      `${`GET ${url}/x`.replace("http:", "https:")}: the server there does not speak TLS; is it http?`,
    );
  });

  it.each([
    ["a file that is not there", "/nowhere/ca.pem", "cannot read /nowhere/ca.pem"],
    ["a folder", import.meta.dirname, `cannot read ${import.meta.dirname}`],
    ["a file without a certificate", import.meta.filename, `${import.meta.filename} holds no PEM certificate`],
    ["a key", pemFile("one.key"), `${pemFile("one.key")} holds no PEM certificate`],
  ])("caFile is %s: wrong usage", (_, caFile, message) => {
    const open = () => openTestHttp("https://127.0.0.1/v1", { caFile });
    expect(open).toThrow(UsageError);
    expect(open).toThrow(`service.ca_file: ${message}`);
  });

  it.runIf(inFull)(
    "is checked whatever NODE_TLS_REJECT_UNAUTHORIZED says, and the key stays here; that of a notice, too",
    async () => {
      const { url, requests } = await serve(json({}), "one");
      const script = `
      import { runnerImport } from "vite";
      const load = async (file) => (await runnerImport(file, { configFile: false, logLevel: "error" })).module;
      const { openHttp } = await load("./src/client/open-client.ts");
      const { sendNotice } = await load("./src/notify/notifier.ts");
      const { signal } = new AbortController();
      const baseUrl = process.env.ONE;
      const http = openHttp({ baseUrl, key: "k", connections: 1, timeout: 5, maxBody: 99, signal, env: {}, onBytes() {} });
      console.log(await http.send({ path: "/x", query: [] }).then(() => "sent", (error) => error.name));
      console.log(await sendNotice(baseUrl, "{}", { signal, waits: [], env: {} }));
      await http.close();`;
      const env = { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: "0", ONE: url };
      const cwd = join(import.meta.dirname, "../../..");
      const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { cwd, env });
      expect((await run).stdout).toBe("StopError\nit could not be sent (DEPTH_ZERO_SELF_SIGNED_CERT)\n");
      expect(requests).toHaveLength(0);
    },
  );

  it.runIf(inFull)("caFile adds to the trusted certificates, including NODE_EXTRA_CA_CERTS", async () => {
    const [one, two] = [await serve(json({}), "one"), await serve(json({}), "two")];
    const script = `
      import { runnerImport } from "vite";
      const { module } = await runnerImport("./src/client/open-client.ts", { configFile: false, logLevel: "error" });
      const { signal } = new AbortController();
      for (const baseUrl of [process.env.ONE, process.env.TWO]) {
        const options = { baseUrl, key: "k", connections: 1, timeout: 5, maxBody: 99, caFile: process.env.CA, signal, env: {} };
        const http = module.openHttp({ ...options, onBytes() {} });
        console.log((await http.send({ path: "/x", query: [] })).status);
        await http.close();
      }`;
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: pemFile("one"), CA: pemFile("two"), ONE: one.url, TWO: two.url };
    const cwd = join(import.meta.dirname, "../../..");
    const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { cwd, env });
    expect((await run).stdout).toBe("200\n200\n");
  });
});
