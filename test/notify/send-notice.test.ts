import { expect, test } from "vitest";
import { sendNotice } from "../../src/notify/notifier.js";
import { deadUrl } from "../client/serve.js";
import { startProxy } from "../servers/proxy.js";
import { startReceiver } from "./start-receiver.js";

const signal = new AbortController().signal;
const env = {};
const waits = [0, 0];

test("a notice is one POST of JSON, sent only once if it is accepted", async () => {
  const receiver = await startReceiver();
  expect(await sendNotice(`${receiver.url}/x?y=1`, '{"a":1}', { signal, env, waits })).toBeUndefined();
  expect(receiver.received).toHaveLength(1);
  expect(receiver.received[0]).toMatchObject({ method: "POST", target: "/x?y=1", body: '{"a":1}' });
  expect(receiver.received[0]?.headers).toMatchObject({
    "content-type": "application/json",
    "user-agent": expect.stringMatching(/^kbdump\/\d/),
  });
  expect(receiver.received[0]?.headers.authorization).toBeUndefined();
});

test.each([
  [404, 1, "it answered with status 404"],
  [302, 1, "it answered with a redirect, which is not followed"],
  [429, 3, "it answered with status 429"],
  [503, 3, "it answered with status 503"],
])("an answer of %i is reported after %i tries", async (status, tries, reason) => {
  const receiver = await startReceiver();
  receiver.answer = () => status;
  expect(await sendNotice(`${receiver.url}/secret`, "{}", { signal, env, waits })).toBe(reason);
  expect(receiver.received).toHaveLength(tries);
});

test("a notice that fails once is sent again", async () => {
  const receiver = await startReceiver();
  receiver.answer = () => (receiver.received.length === 1 ? 500 : 200);
  expect(await sendNotice(receiver.url, "{}", { signal, env, waits })).toBeUndefined();
  expect(receiver.received).toHaveLength(2);
});

test("a receiver that never answers is given up, and no error contains the URL", async () => {
  const receiver = await startReceiver();
  receiver.answer = () => "hang";
  const late = await sendNotice(`${receiver.url}/secret`, "{}", { signal, env, waits: [0], timeout: 20 });
  expect(late).toBe("no answer within 0.02 s"); // on a busy machine, this ends before the receiver sees the request
  expect(await sendNotice(`${await deadUrl()}/secret`, "{}", { signal, env, waits })).toBe("connection refused");
  expect(await sendNotice("/secret", "{}", { signal, env, waits: [] })).toBe("its URL is invalid");
});

test("a signal ends it, the wait for another try included", async () => {
  const receiver = await startReceiver();
  const ended = new AbortController();
  receiver.answer = () => {
    setImmediate(() => ended.abort());
    return "hang";
  };
  expect(await sendNotice(receiver.url, "{}", { signal: ended.signal, env, waits: [600_000] })).toBe(
    "there was no time left for it",
  );
  const later = new AbortController();
  receiver.answer = () => {
    setImmediate(() => setImmediate(() => later.abort()));
    return 503;
  };
  expect(await sendNotice(receiver.url, "{}", { signal: later.signal, env, waits: [600_000] })).toMatch(
    /503|no time left/,
  );
});

test("a notice goes through the proxy of the environment, and the error names a proxy that fails, without its password", async () => {
  const receiver = await startReceiver();
  const proxy = await startProxy(Number(new URL(receiver.url).port), { login: "me:secret" });
  const through = (url: string) => ({ signal, waits, env: { HTTP_PROXY: url, HTTPS_PROXY: url } });
  const login = proxy.url.replace("//", "//me:secret@");
  const url = "http://hooks.example/path?token=1";
  expect(await sendNotice(url, '{"a":1}', through(login))).toBeUndefined();
  expect(receiver.received).toMatchObject([{ method: "POST", target: "/path?token=1", body: '{"a":1}' }]);
  expect(receiver.received[0]?.headers["proxy-authorization"]).toBeUndefined();
  expect(proxy.tunnels).toEqual(["hooks.example:80"]);
  const direct = { signal, waits, env: { HTTP_PROXY: proxy.url, NO_PROXY: "127.0.0.1" } };
  expect(await sendNotice(receiver.url, "{}", direct)).toBeUndefined();
  expect(proxy.tunnels).toHaveLength(1);
  const secure = "https://hooks.example/path?token=1";
  expect(await sendNotice(secure, "{}", through(proxy.url))).toBe(
    `the proxy ${proxy.host} wants a user and password (407); HTTPS_PROXY holds them, as in http://user:password@${proxy.host}`,
  );
  const dead = new URL(await deadUrl()).host;
  expect(await sendNotice(secure, "{}", through(`http://me:secret@${dead}`))).toBe(
    `the proxy ${dead} cannot be reached: connection refused; check HTTPS_PROXY`,
  );
  expect(await sendNotice(secure, "{}", through("socks5://me:secret@p"))).toMatch(
    /^The proxy cannot be used: HTTPS_PROXY: expected the URL of a proxy such as (?!.*secret)/,
  );
});
