import { UsageError } from "../errors.js";

export type Sdk = typeof import("@aws-sdk/client-s3");
export type SdkClient = InstanceType<Sdk["S3Client"]>;

/** The AWS SDK, which kbdump does not bring along: few need a bucket, and it weighs 20 MB. UsageError where it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  // The SDK warns at every start that its versions of 2027 need Node 22; the lower bound of kbdump is its own matter.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  try {
    return await import("@aws-sdk/client-s3");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error;
    throw new UsageError(
      "A bucket needs the AWS SDK, which is not installed. Run npm install @aws-sdk/client-s3 in the folder where you installed kbdump; after npm install --global kbdump, run npm install --global @aws-sdk/client-s3",
      [],
    );
  }
}
