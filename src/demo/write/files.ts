import type { DemoKnowledge } from "../demo-knowledge.js";
import { Refusal } from "../knowledge.js";
import { isSigned, sampleAttachment } from "../originals.js";
import { jsonReply, type Route, route } from "../routes.js";
import { accounts } from "../sample/outline.js";
import { fileFrom } from "./requests.js";
import { answerLater } from "./write-options.js";

/** The routes that upload a file for chunks, and that give the files of chunks to holders of a signed link, for 300 s. */
export function fileRoutes({ files, options, store }: DemoKnowledge): readonly Route[] {
  const links = ["file-preview", "image-preview"].map((kind): Route => {
    const link = route("GET", `/files/:file/${kind}`, ({ id, query }) => {
      const fileId = id("file");
      if (!isSigned(`/files/${fileId}/${kind}`, query, new Date(store.now() * 1000)))
        throw new Refusal(403, "forbidden", "The signature of the link is wrong, or has expired.");
      const file = files.find(fileId);
      return file ? { status: 200, type: file.facts.mime_type, content: file.bytes } : sampleAttachment(store, fileId);
    });
    return { ...link, isOpen: true };
  });
  const upload = route("POST", "/v1/datasets/pipeline/file-upload", async ({ form }) => {
    const arrival = { id: options.newId(), by: accounts.owner, time: Math.floor(store.now()) };
    const { facts } = files.add(await fileFrom(await form()), arrival);
    await answerLater(options);
    return jsonReply(201, facts);
  });
  return [upload, ...links];
}
