import { expect, test } from "vitest";
import { proxyFor } from "../../src/client/connections.js";
import { UsageError } from "../../src/errors.js";

const at = (target: string, env: NodeJS.ProcessEnv) => proxyFor(new URL(target), env);
const both = { HTTP_PROXY: "http://one:1", HTTPS_PROXY: "http://two:2" };

test.each([
  ["https://kb.example", both, "two:2", "HTTPS_PROXY"],
  ["http://kb.example", both, "one:1", "HTTP_PROXY"],
  ["https://kb.example", { ...both, https_proxy: "http://three" }, "three:80", "https_proxy"],
  ["https://kb.example", { HTTP_PROXY: "http://one:1" }, "one:1", "HTTP_PROXY"],
  ["https://kb.example", { ...both, https_proxy: "", http_proxy: "http://three" }, "three:80", "http_proxy"],
  ["https://kb.example", { HTTPS_PROXY: "proxy.example:3128" }, "proxy.example:3128", "HTTPS_PROXY"],
  ["https://kb.example", { HTTPS_PROXY: "https://proxy.example/" }, "proxy.example:443", "HTTPS_PROXY"],
])("%s with %j goes through %s of %s", (target, env, host, variable) => {
  expect(at(target, env)).toMatchObject({ host, variable, authorization: undefined });
});

test.each([
  ["http://kb.example", { HTTPS_PROXY: "http://two:2" }],
  ["http://kb.example", { ...both, http_proxy: "" }],
  ["https://kb.example", {}],
  ["https://kb.example", { HTTPS_PROXY: "", HTTP_PROXY: " " }],
])("%s with %j has no proxy", (target, env) => expect(at(target, env)).toBeUndefined());

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
