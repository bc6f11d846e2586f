import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A proxy that cuts connections. */
export interface CuttingProxy {
  readonly url: string;
  /** Forwards the next `times` requests with this method, and cuts the connection instead of answering. */
  readonly cutAnswers: (method: string, times: number) => void;
  /** The number of cut answers. */
  readonly cuts: () => number;
}

/** Starts a proxy for a test, in front of a local server. Its clients open a new connection for each request. */
export async function startCuttingProxy(toPort: number): Promise<CuttingProxy> {
  let [method, left, cuts] = ["", 0, 0];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    const onward = connect(toPort, "127.0.0.1");
    let isCut = false;
    client.on("data", (piece) => {
      if (left > 0 && piece.subarray(0, method.length + 1).toString("latin1") === `${method} `) {
        isCut = true;
        left--;
      }
      onward.write(piece);
    });
    onward.on("data", (piece) => {
      if (!isCut) return void client.write(piece);
      cuts++;
      client.destroy();
    });
    for (const [socket, other] of [
      [client, onward],
      [onward, client],
    ] as const)
      socket.on("error", () => {}).on("close", () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutAnswers: (ofMethod, times) => {
      [method, left] = [ofMethod, times];
    },
    cuts: () => cuts,
  };
}
