import { expect, test } from "vitest";
import { proxyFor } from "../../src/client/proxy.js";
import { UsageError } from "../../src/errors.js";

const at = (target: string, env: NodeJS.ProcessEnv) => proxyFor(new URL(target), env);
const both = { HTTP_PROXY: "http://one:1", HTTPS_PROXY: "http://two:2" };

test.each([
  ["https://kb.example", both, "two:2", "HTTPS_PROXY"],
  ["http://kb.example", both, "one:1", "HTTP_PROXY"],
  ["https://kb.example", { ...both, https_proxy: "http://three" }, "three:80", "https_proxy"],
  ["https://kb.example", { ...both, https_proxy: " " }, "two:2", "HTTPS_PROXY"],
  ["https://kb.example", { HTTPS_PROXY: "proxy.example:3128" }, "proxy.example:3128", "HTTPS_PROXY"],
  ["https://kb.example", { HTTPS_PROXY: "https://proxy.example/" }, "proxy.example:443", "HTTPS_PROXY"],
])("%s with %j goes through %s of %s", (target, env, host, variable) => {
  expect(at(target, env)).toMatchObject({ host, variable, authorization: undefined });
});

test.each([
  ["https://kb.example", { HTTP_PROXY: "http://one:1" }],
  ["https://kb.example", {}],
  ["https://kb.example", { HTTPS_PROXY: "" }],
  ["http://localhost:1", both],
  ["http://kb.localhost:1", both],
  ["https://127.0.0.2", both],
  ["http://[::1]:8080", both],
])("%s with %j is asked directly", (target, env) => expect(at(target, env)).toBeUndefined());

test.each([
  ["*", true],
  ["kb.example.com", true],
  ["other.example, KB.example.com", true],
  ["other.example kb.example.com", true],
  ["example.com", true],
  [".example.com", true],
  ["*.example.com", true],
  ["kb.example.com:443", true],
  ["kb.example.com:444", false],
  ["b.example.com", false],
  ["kb.example", false],
  ["com.", false],
  [",. ,", false],
  ["10.0.0.0/8", false],
])("NO_PROXY=%s for https://kb.example.com: %s", (names, isDirect) => {
  expect(at("https://kb.example.com", { ...both, NO_PROXY: names }) === undefined).toBe(isDirect);
  expect(at("https://kb.example.com", { ...both, no_proxy: names, NO_PROXY: "nobody" }) === undefined).toBe(isDirect);
});

test.each([
  ["10.1.2.3", "10.0.0.0/8", true],
  ["10.1.2.3", "10.1.2.3", true],
  ["10.1.2.3", "10.1.2.3:443", true],
  ["10.1.2.3", "2.3", false],
  ["11.1.2.3", "10.0.0.0/8", false],
  ["10.1.2.3", "10.0.0.0/99", false],
  ["10.1.2.3", "fd00::/8", false],
  ["[fd00::1]", "fd00::/8", true],
  ["[fd00::1]", "fd00::1", true],
  ["[fd00::1]", "[fd00::1]", true],
  ["[fd00::1]", "[fd00::1]:443", true],
  ["[fd00::1]", "[fd00::1]:80", false],
])("https://%s with NO_PROXY=%s: %s", (host, names, isDirect) => {
  expect(at(`https://${host}`, { ...both, NO_PROXY: names }) === undefined).toBe(isDirect);
});

test.each([
  ["http://me:p%40ss@p", "me:p@ss"],
  ["http://me@p", "me:"],
  ["http://me:50%@p", "me:50%"],
])("user and password of %s", (url, login) => {
  const proxy = at("https://kb.example", { HTTPS_PROXY: url });
  expect(proxy).toMatchObject({ origin: "http://p", host: "p:80" });
  expect(Buffer.from(proxy?.authorization?.replace("Basic ", "") ?? "", "base64").toString()).toBe(login);
});

test.each(["socks5://secret", "ftp://secret", "http://", "http://secret:99999", "secret host"])(
  "%s is no proxy",
  (url) => {
    const open = () => at("https://kb.example", { HTTPS_PROXY: url });
    expect(open).toThrow(UsageError);
    expect(open).not.toThrow(/secret/);
  },
);
