// What a program asks a running query beside its messages, and a session that waits for its folder.
import {
  type ClaimOptions,
  prewarm,
  type Query,
  type QueryInquiries,
  type SDKControlGetUsageResponse,
  type SDKControlMcpReadResourceResponse,
  type SDKControlReloadPluginsResponse,
  type SpareProcess,
} from "keel";

export async function ask(running: Query): Promise<unknown> {
  const inquiries: QueryInquiries = running;
  const reloaded: SDKControlReloadPluginsResponse = await inquiries.reloadPlugins();
  const { skills } = await inquiries.reloadSkills();
  const { available_output_styles } = await inquiries.reloadOutputStyles();
  await inquiries.seedReadState("/a", 1);
  const { contents }: SDKControlMcpReadResourceResponse = await inquiries.readMcpResource("server", "a:b");
  const [first] = contents;
  const usage: SDKControlGetUsageResponse =
    await inquiries.usage_EXPERIMENTAL_MAY_CHANGE_DO_NOT_RELY_ON_THIS_API_YET();
  return [reloaded.error_count, skills, available_output_styles, first?.text, usage.session.total_cost_usd];
}

export async function claim(): Promise<unknown> {
  await using spare: SpareProcess = await prewarm();
  const options: ClaimOptions = { cwd: "/", model: "claude-haiku-4-5", maxThinkingTokens: null };
  for await (const message of spare.claim({ prompt: "hi", options })) if (message.type === "result") break;
  const { sessionId } = await spare.claimed;
  spare.close();
  await spare.exited;
  return sessionId;
}
