import { isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { NodeAgent } from './page-agent.ts'

const DEADLINE_MS = 10_000

/** The kubelet of a node as the API reaches it: any kubelet, with the rights of the client. */
export function createProxiedAgent(client: KubeClient, nodeName: string): NodeAgent {
  return createDirectAgent(client, `/api/v1/nodes/${encodeURIComponent(nodeName)}/proxy`)
}

/** A kubelet at a port of its own, or below a path. */
export function createDirectAgent(client: KubeClient, base = ''): NodeAgent {
  return {
    right: 'proxy',
    async ask(target, signal) {
      const { pathname, searchParams } = new URL(target, 'http://kubelet.invalid')
      const path = `${base}${pathname}`
      try {
        const query = Object.fromEntries(searchParams)
        return await client.send({ method: 'GET', path, query, timeoutMs: DEADLINE_MS }, signal)
      } catch (error) {
        if (isNotFound(error)) return undefined
        throw error
      }
    },
    readProblems: () => Promise.resolve([]),
  }
}
