import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Transport } from '../../protocols/kube-api/transport/transport.ts'
import { DATA_HEADERS } from './page-headers.ts'
import { sendPlain } from './send-page.ts'

// Names of objects need nothing else, so no other way to write a path has to be thought of.
const PLAIN_PATH = /^\/apis?\/[\w.:~/-]*$/
// Behind a proxy are pods and what they like to serve; on the page's own origin that would be a part of the page.
const PROXIED = /\/proxy(?:\/|$)/
const LOG = /\/pods\/[^/]+\/log$/

/** Answers with what the API answers to this user. It only reads. */
export async function passApiRequest(
  transport: Transport,
  url: URL,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { pathname: path, search } = url
  if (!PLAIN_PATH.test(path)) return sendPlain(response, 400, 'expected a path of the Kubernetes API\n')
  if (PROXIED.test(path)) return sendPlain(response, 403, 'the page passes nothing on to pods\n')
  const isLog = LOG.test(path)
  const isWatch = isLog && url.searchParams.get('follow') === 'true'
  const headers = { accept: isLog ? '*/*' : 'application/json' }
  const answer = await transport.request(
    { method: 'GET', target: `${path}${search}`, headers, body: undefined, isWatch },
    signal,
  )
  const isText = isLog && answer.status === 200
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json'
  response.writeHead(answer.status, { ...DATA_HEADERS, 'content-type': type })
  response.flushHeaders()
  for await (const chunk of answer.body) if (!response.write(chunk)) await once(response, 'drain', { signal })
  response.end()
}
