import { describe, expect, it } from "vitest";
import { failedRequest } from "../../src/client/failed-request.js";
import { RetryError, StopError } from "../../src/errors.js";

const url = "https://kb.example.com/v1/x";
const withCode = (code: string, message = "raw words") => Object.assign(new Error(message), { code });

describe("failedRequest", () => {
  it.each([
    ["ECONNREFUSED", "connection refused by kb.example.com"],
    ["ECONNRESET", "the connection was reset"],
    ["ENOTFOUND", "unknown host name"],
    ["EAI_AGAIN", "the host name could not be looked up"],
    ["EPIPE", "the connection was closed"],
    ["UND_ERR_SOCKET", "the connection was closed"],
    ["UND_ERR_CONNECT_TIMEOUT", "no connection in time"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "the server there does not speak TLS; is it http?"],
    ["EHOSTUNREACH", "raw words"],
    ["ERR_SOMETHING_NEW", "raw words"],
  ])("%s may pass: %s", (code, sentence) => {
    const cause = withCode(code);
    const error = failedRequest(cause, url);
    expect(error).toBeInstanceOf(RetryError);
    expect(error).toMatchObject({ message: `GET ${url}: ${sentence}`, cause, status: undefined });
  });

  it.each([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", true],
    ["SELF_SIGNED_CERT_IN_CHAIN", true],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", true],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", true],
    ["CERT_HAS_EXPIRED", false],
    ["CERT_NOT_YET_VALID", false],
    ["CERT_REVOKED", false],
    ["ERR_TLS_CERT_ALTNAME_INVALID", false],
  ])("%s stops; that ca_file can help is said: %s", (code, caFileHelps) => {
    const error = failedRequest(withCode(code), url);
    expect(error).toBeInstanceOf(StopError);
    expect(error.message).toContain(code);
    expect(error.message.includes("service.ca_file")).toBe(caFileHelps);
  });

  it.each([
    [new Error("two\nlines \u001b[31m"), "two lines [31m"],
    [withCode("ETIMEDOUT", ""), "ETIMEDOUT"], // Node's error when a name has several addresses
    ["no error", "no error"],
  ])("%s is said in one plain line", (thrown, sentence) => {
    expect(failedRequest(thrown, url).message).toBe(`GET ${url}: ${sentence}`);
  });

  it("passes on an error that already says what to do", () => {
    const error = new RetryError("known");
    expect(failedRequest(error, url)).toBe(error);
  });
});
