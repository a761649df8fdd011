import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createInterface } from 'node:readline'
import { KubeApiError } from '../../../src/protocols/kube-api/kube-client.ts'
import type { KubeClient, KubeRequest, WatchEvent } from '../../../src/protocols/kube-api/kube-client.ts'
import type { ClientSecrets, SecuredApi } from '../api-server/start-secured-api.ts'

/** A client without limits and repetitions, a connection for each request. */
export function createHttpsKubeClient(
  { server, authorityPem }: Pick<SecuredApi, 'server' | 'authorityPem'>,
  secrets: () => Pick<ClientSecrets, 'cert' | 'key' | 'token'>,
): KubeClient {
  const open = async (
    { method, path, query = {}, body, contentType = 'application/json' }: KubeRequest,
    signal: AbortSignal,
  ): Promise<IncomingMessage> => {
    const { token, ...certificate } = secrets()
    const sent = request(`${server}${path}?${new URLSearchParams(query).toString()}`, {
      method,
      ca: authorityPem,
      ...certificate,
      agent: false,
      signal,
      headers: { 'content-type': contentType, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    if ((response.statusCode ?? 0) < 300) return response
    const { code, reason = '', message = '' } = (await readJson(response)) as Record<string, never>
    throw new KubeApiError(message, { code: code ?? response.statusCode ?? 0, reason })
  }
  return {
    send: async <T>(request: KubeRequest, signal: AbortSignal) => (await readJson(await open(request, signal))) as T,
    async *watch({ path, query }, signal): AsyncGenerator<WatchEvent> {
      const response = await open({ method: 'GET', path, query: { ...query, watch: 'true' } }, signal)
      // A caller that stops listening does not need to know how it ends.
      response.on('error', () => {})
      try {
        for await (const line of createInterface({ input: response })) yield JSON.parse(line) as WatchEvent
      } finally {
        response.destroy()
      }
    },
  }
}

async function readJson(response: IncomingMessage): Promise<unknown> {
  return JSON.parse(Buffer.concat(await response.toArray()).toString('utf8'))
}
