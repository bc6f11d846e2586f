import { describe, expect, it } from "vitest";
import { checkAnswer } from "../../src/client/check-answer.js";
import { errorFromAnswer, retryAfter, typedKey } from "../../src/client/refused-answer.js";
import type { Answer } from "../../src/client/retry.js";
import { RetryError, SkipError, StopError } from "../../src/errors.js";
import { everythingOf } from "./open-test-http.js";

const key = "dataset-Ab+/=1";
const url = "https://kb.example.com/v1/datasets/d/documents/e/segments?page=1&limit=100";
const planLimit = "Sorry, you have reached the knowledge base request rate limit of your subscription.";

function answer(status: number, body: unknown = "", headers: Answer["headers"] = {}): Answer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { url, status, headers, body: Buffer.from(text) };
}

function errorFor(status: number, body?: unknown, headers?: Answer["headers"]) {
  return errorFromAnswer(answer(status, body, headers), { key });
}

function html(status: string): string {
  return `<html>\r\n<head><title>${status}</title></head>\r\n<body>\r\n<center>nginx</center></body></html>`;
}

describe("what to do next", () => {
  it.each([408, 425, 429, 500, 501, 502, 503, 504, 505, 520, 521, 522, 523, 524, 525, 529, 599])(
    "%i may pass",
    (status) => {
      for (const body of ["", html(`${status} Sorry`), { code: "some_code", message: "Some message.", status }]) {
        const error = errorFor(status, body);
        expect(error).toBeInstanceOf(RetryError);
        expect(error).toMatchObject({ status, throttled: status === 429 });
      }
    },
  );

  it.each([
    100, 201, 202, 204, 206, 301, 304, 308, 400, 402, 403, 404, 405, 406, 409, 410, 411, 413, 414, 422, 431, 451,
  ])("%i will not pass", (status) => {
    for (const body of ["", html(`${status} Sorry`), { code: "some_code", message: "Some message.", status }]) {
      const error = errorFor(status, body);
      expect(error).toBeInstanceOf(SkipError);
      expect(error).toMatchObject({ status });
    }
  });

  it.each([
    ["dataset-abc", undefined, "this key", "create one under Knowledge → Service API"],
    ["dataset-abc", typedKey, "the key you typed", "create one under Knowledge → Service API"],
    [
      "app-abc",
      'the key file "k"',
      'the key from the key file "k"',
      "it is the key of an app: use one that begins with dataset-",
    ],
    ["'dataset-abc'", "the variable K", "the key from the variable K", "it has quotes around it: remove them"],
  ])("401 for %s from %s names it, and what to do", (wrong, place, named, advice) => {
    const { message } = errorFromAnswer(answer(401, { code: "unauthorized", message: "No." }), {
      key: wrong,
      keySource: place,
    });
    expect(message).toBe(`GET ${url}: the service does not accept ${named} (401 unauthorized No); ${advice}`);
  });

  it("401 stops", () => {
    const error = errorFor(401, { code: "unauthorized", message: "Access token is invalid", status: 401 });
    expect(error).toBeInstanceOf(StopError);
    expect(error.message).toContain("(401 unauthorized Access token is invalid)");
  });

  it("403 with the sentence of the plan limit is a throttled answer, any other is not", () => {
    const limited = errorFor(403, { code: "forbidden", message: planLimit, status: 403 });
    expect(limited).toBeInstanceOf(RetryError);
    expect(limited).toMatchObject({ throttled: true, retryAfter: undefined });
    const message = "You have reached the limit of your subscription.";
    expect(errorFor(403, { code: "forbidden", message, status: 403 })).toBeInstanceOf(SkipError);
    expect(errorFor(400, { code: "forbidden", message: planLimit, status: 400 })).toBeInstanceOf(SkipError);
  });

  it.each([
    [429, undefined, { throttled: true, retryAfter: undefined }],
    [429, "7", { throttled: true, retryAfter: 7_000 }],
    [503, "7", { throttled: true, retryAfter: 7_000 }],
    [503, undefined, { throttled: false, retryAfter: undefined }],
    [503, "later", { throttled: false, retryAfter: undefined }],
    [500, "7", { throttled: false, retryAfter: 7_000 }],
  ])("%i with Retry-After %s", (status, header, expected) => {
    const headers = header === undefined ? {} : { "retry-after": header };
    expect(errorFor(status, "", headers)).toMatchObject(expected);
  });
});

describe("what the message says", () => {
  it.each([
    [
      { code: "provider_not_initialize", message: "No model.", status: 400 },
      "400 provider_not_initialize No model; configure the embedding model of this dataset in the service",
    ],
    [
      { code: "invalid_param", message: "Provider openai does not exist.", status: 400 },
      "400 invalid_param Provider openai does not exist; configure the embedding model of this dataset in the service",
    ],
    [{ message: "No code." }, "400 No code."],
    [{ code: "no_message" }, "400 no_message"],
    [{ code: null, message: null }, '400 {"code":null,"message":null}'],
    [{ message: { limit: "must be positive" } }, '400 {"limit":"must be positive"}'],
    [{ detail: "Elsewhere." }, '400 {"detail":"Elsewhere."}'],
    ["[1]", "400 [1]"],
    ["null", "400 null"],
    [html("400 Bad Request"), "400 Bad Request"],
    ["plain words", "400 plain words"],
    ["", "400"],
    [`{"message":"a\\u001b[2J\\nb\\u202ec"}`, "400 a [2J b c"],
    [{ code: "c".repeat(100), message: "m".repeat(1_000) }, `400 ${"c".repeat(60)}… ${"m".repeat(300)}…`],
    ["x".repeat(1_000), `400 ${"x".repeat(100)}…`],
    [{ code: "bad", message: `key ${key} or ${encodeURIComponent(key)}` }, "400 bad key [key] or [key]"],
  ])("%j → %s", (body, said) => expect(errorFor(400, body).message).toBe(`GET ${url}: ${said}`));

  it("carries the code for programs, or none if the service sent none", () => {
    expect(errorFor(404, { code: "not_found", message: "Document not found." })).toMatchObject({ code: "not_found" });
    for (const body of [{ code: null }, { code: 404 }, { message: "x" }, html("404 Not Found")]) {
      expect(errorFor(404, body).code).toBeUndefined();
    }
  });

  it.each([
    [html("404 Not Found"), url, "; the service does not know this URL; check service.base_url"],
    [
      html("404 Not Found"),
      "https://kb.example.com/datasets/d",
      "; the service does not know this URL; check service.base_url, which usually ends in /v1",
    ],
    ['{"message":"Not Found"}', url, "; the service does not know this URL; check service.base_url"],
    [
      '{"code":"not_found","message":"The requested URL was not found on the server."}',
      url,
      "; the service does not know this URL; check service.base_url",
    ],
    [
      '{"code":"not_found","message":"nope"}',
      "https://kb.example.com/datasets?page=1",
      "nope; the service does not know this URL; check service.base_url, which usually ends in /v1",
    ],
    [
      '{"code":"not_found","message":"nope"}',
      "https://kb.example.com/v1/datasets/d/documents?page=1",
      "nope; check the id of the dataset, and that the key may read it",
    ],
    ['{"code":"not_found","message":"Document not found."}', url, "Document not found; check the id of the document"],
    [
      '{"code":"not_found","message":"Dataset not found."}',
      url,
      "Dataset not found; check the id of the dataset, and that the key may read it",
    ],
    [
      '{"code":"not_found","message":"Segment not found."}',
      url.replace("segments", "segments/c/child_chunks"),
      "Segment not found.",
    ],
  ])("404 %s of %s ends: %s", (body, asked, end) => {
    const error = errorFromAnswer({ ...answer(404, body), url: asked }, { key });
    expect(error.message.endsWith(end)).toBe(true);
  });

  it("403 asks for API access and the key's rights", () => {
    expect(errorFor(403, { code: "forbidden", message: "No." }).message).toMatch(/is API access on for this dataset/);
  });

  it("403 of the list of datasets says to name them", () => {
    const asked = "https://kb.example.com/v1/datasets?page=1&limit=100&include_all=true";
    const error = errorFromAnswer({ ...answer(403, '{"code":"forbidden","message":"No."}'), url: asked }, { key });
    expect(error.message).toMatch(/; a key of one dataset may not list them: name the datasets by id in the job file$/);
  });
});

it("explains a 304: a cache answers, nothing redirects", () => {
  const { message } = errorFor(304, "");
  expect(message).toContain(": 304; not modified: a cache answers in place of the service");
  expect(message).not.toContain("redirect");
});

it("an id of any length is cut in errors", () => {
  const url = `https://kb.example.com/v1/datasets/${"x".repeat(14_000)}/documents?page=1&limit=100`;
  const { message } = errorFromAnswer({ ...answer(404, ""), url }, { key });
  expect(message.length).toBeLessThan(300);
  expect(message).toMatch(/\/datasets\/x{80}…\/documents\?page=1&limit=100: 404/);
});

describe("redirects", () => {
  const path = url.slice(url.indexOf("/datasets/"));
  const unfollowed = "which is not followed";
  it.each([
    [
      `https://other.example/v1${path}`,
      `; it redirects to https://other.example/v1${path}, ${unfollowed}; service.base_url should probably be https://other.example/v1`,
    ],
    [`/api/v1${path}`, `, ${unfollowed}; service.base_url should probably be https://kb.example.com/api/v1`],
    [`//other.example/kb/v1${path}`, "; service.base_url should probably be https://other.example/kb/v1"],
    [`http://kb.example.com/v1${path}`, `; it redirects to http://kb.example.com/v1${path}, ${unfollowed}`], // no key over HTTP
    [
      url.replace("?", "/?"),
      `, ${unfollowed}; this address is not the Knowledge API; check service.base_url`, // advising the same base URL would not help
    ],
    [
      "https://sso.example/login?next=%2Fv1",
      `; it redirects to https://sso.example/login?next=%2Fv1, ${unfollowed}; check service.base_url`,
    ],
    ["https://[broken", `; it redirects to https://[broken, ${unfollowed}; check service.base_url`],
    [undefined, `; it redirects, ${unfollowed}`],
  ])("to %s", (location, end) => {
    for (const status of [301, 302, 303, 307, 308]) {
      const error = errorFor(status, "", location === undefined ? {} : { location });
      expect(error).toBeInstanceOf(SkipError);
      expect(error.message.slice(-end.length)).toBe(end);
    }
  });

  it("are reported for the list of datasets too", () => {
    const redirect = { ...answer(301, ""), url: "https://kb.example.com/datasets?page=1" };
    const error = errorFromAnswer({ ...redirect, headers: { location: "/v1/datasets?page=1" } }, { key });
    expect(error.message).toMatch(/service.base_url should probably be https:\/\/kb.example.com\/v1$/);
  });

  it("show neither key nor control characters of the location, and not all of a long one", () => {
    const location = `https://a.example/\u001b[2J?key=${encodeURIComponent(key)}&again=${key}&x=${"x".repeat(1_000)}`;
    const { message } = errorFor(302, "", { location });
    expect(message).toContain("?key=[key]&again=[key]&x=");
    expect(message).not.toContain("\u001b");
    expect(message.length).toBeLessThan(500);
  });
});

describe("the body of a 200", () => {
  it("is its JSON, with or without a byte order mark", () => {
    expect(checkAnswer(answer(200, '\ufeff{"a":[1]}'), { key })).toEqual({ a: [1] });
    expect(checkAnswer(answer(200, ' {"a":"ä"} '), { key })).toEqual({ a: "ä" });
  });

  it.each([
    ["", "(empty)"],
    ['{"data":[{"id":"1"', '{"data":[{"id":"1"'],
    [
      `<!doctype html>\n<title>Sign in</title>${"x".repeat(99)}`,
      "<!doctype html> <title>Sign in</title>xxxxxxxxxxxxxxxxxxxxxx…",
    ],
    ["{}{}", "{}{}"],
    ["\u001b[31m\u0000", "[31m"],
  ])("that is not JSON may be whole the next time: %j", (body, start) => {
    const call = () => checkAnswer(answer(200, body), { key });
    expect(call).toThrow(RetryError);
    expect(call).toThrow(`GET ${url}: the body is not valid JSON: ${start}`);
    expect(call).toThrow(expect.objectContaining({ status: 200 }));
  });

  it("that is no UTF-8 is not mended by replacement characters", () => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xe9]), Buffer.from('"}')]);
    expect(() => checkAnswer({ ...answer(200), body }, { key })).toThrow(RetryError);
  });

  it("that is too deep to read is no crash", () => {
    const deep = `${"[".repeat(200_000)}12345678901234567890${"]".repeat(200_000)}`;
    expect(() => checkAnswer(answer(200, deep), { key })).toThrow(RetryError);
  });
});

describe("the key", () => {
  it.each([
    [200, `oops ${key} is not valid JSON`],
    [200, `{"message":${key}}`],
    [200, `${" ".repeat(190)}${key}`],
    [200, encodeURIComponent(key)],
    [302, key],
    [400, { code: key, message: `key ${key}` }],
    [401, { code: "unauthorized", message: `No access for ${key}` }],
    [403, html(`403 ${key}`)],
    [404, key],
    [429, { message: `${key}: slow down` }],
    [500, `${"x".repeat(95)}${key}`],
  ])("of an answer %i %j is in no message and no cause", (status, body) => {
    let error: unknown;
    try {
      checkAnswer(answer(status, body, { location: `https://a.example/${key}` }), { key });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(Error);
    const everything = everythingOf(error);
    expect(everything).not.toContain(key.slice(0, 10));
    expect(everything).not.toContain(encodeURIComponent(key));
  });
});

describe("Retry-After", () => {
  const now = Date.UTC(2026, 10, 20, 2, 0, 0);
  it.each([
    [undefined, undefined],
    ["", undefined],
    ["0", 0],
    ["7", 7_000],
    [" 120 ", 120_000],
    ["1.5", 1_500],
    [["3", "9"], 3_000],
    ["Fri, 20 Nov 2026 02:00:30 GMT", 30_000],
    ["Friday, 20-Nov-26 02:00:30 GMT", 30_000],
    ["2026-11-20T02:00:30Z", 30_000],
    ["Fri, 20 Nov 2026 01:00:00 GMT", 0],
    ["soon", undefined],
    ["-5", undefined],
    ["in 5", undefined],
    ["5 seconds", undefined],
    ["1e3", undefined],
    ["0x10", undefined],
    ["99999999999999999999", 1e23],
  ])("%j → %j ms", (header, expected) => expect(retryAfter(header, now)).toBe(expected));
});
