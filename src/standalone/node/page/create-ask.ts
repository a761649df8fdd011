import type { KubeClient } from '../../../protocols/kube-api/kube-client.ts'
import type { NodeAgent } from '../../../page/server/page-agent.ts'
import { createProxiedAgent } from '../../../page/server/proxied-agent.ts'
import { AgentAnswerError, askAgent } from '../agent/agent-client.ts'
import type { NodeLayout } from '../node-layout.ts'
import { hasCode } from '../../../system/files/error-codes.ts'

/** Asks the agent of the node over its socket, or over the API where another kubelet runs, which has no such socket. */
export function createAsk(
  layout: Pick<NodeLayout, 'agentSocket'>,
  nodeName: string,
  openClient: () => Promise<KubeClient>,
): NodeAgent['ask'] {
  let proxied: Promise<NodeAgent> | undefined
  return async (path, signal) => {
    try {
      return await askAgent(layout, path, signal)
    } catch (error) {
      if (error instanceof AgentAnswerError && error.status === 404) return undefined
      if (!hasCode(error, 'ENOENT')) throw error
    }
    proxied ??= openClient().then((client) => createProxiedAgent(client, nodeName))
    // What failed once is tried again.
    proxied.catch(() => (proxied = undefined))
    return await (await proxied).ask(path, signal)
  }
}
