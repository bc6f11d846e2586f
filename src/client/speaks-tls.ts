import { connect } from "node:tls";

/** Milliseconds for the handshake. */
const longest = 1_000;

/** Whether TLS is spoken at this address. Nothing is sent but the handshake, so no certificate has to be checked. */
export function speaksTls({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port || 80), rejectUnauthorized: false });
    const end = (isSpoken: boolean) => {
      resolve(isSpoken);
      socket.destroy();
    };
    socket.setTimeout(longest, () => end(false));
    socket.on("secureConnect", () => end(true)).on("error", () => end(false));
    socket.on("close", () => resolve(false));
  });
}
