import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Transport } from '../../protocols/kube-api/transport/transport.ts'
import { DATA_HEADERS } from './page-headers.ts'
import { readRequestBody } from './read-request-body.ts'
import { sendPlain } from './send-page.ts'

// Names of objects need nothing else, so no other way to write a path has to be thought of.
const PLAIN_PATH = /^\/apis?\/[\w.:~/-]*$/
// Behind a proxy are pods and what they like to serve; on the page's own origin that would be a part of the page.
const PROXIED = /\/proxy(?:\/|$)/
const LOG = /\/pods\/[^/]+\/log$/
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const BODY_TYPES = [
  'application/json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
]

/** Answers with what the API answers to this user. */
export async function passApiRequest(
  transport: Transport,
  {
    request,
    response,
    url,
  }: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly url: URL },
  signal: AbortSignal,
): Promise<void> {
  const { pathname: path, search } = url
  const { method = 'GET' } = request
  if (!PLAIN_PATH.test(path)) return sendPlain(response, 400, 'expected a path of the Kubernetes API\n')
  if (PROXIED.test(path)) return sendPlain(response, 403, 'the page passes nothing on to pods\n')
  if (!METHODS.includes(method)) return sendPlain(response, 405, `expected one of ${METHODS.join(', ')}\n`)
  const { 'content-type': bodyType = '' } = request.headers
  const body = method === 'GET' ? Buffer.alloc(0) : await readRequestBody(request)
  if (body === undefined) return sendPlain(response, 413, 'the object is too large\n')
  if (body.length > 0 && !BODY_TYPES.includes(bodyType))
    return sendPlain(response, 415, `expected a body of type ${BODY_TYPES.join(', ')}\n`)
  const isLog = LOG.test(path)
  const isWatch = isLog && url.searchParams.get('follow') === 'true'
  const headers = { accept: isLog ? '*/*' : 'application/json', ...(body.length > 0 && { 'content-type': bodyType }) }
  const answer = await transport.request(
    { method, target: `${path}${search}`, headers, body: body.length > 0 ? body : undefined, isWatch },
    signal,
  )
  const isText = isLog && answer.status === 200
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json'
  response.writeHead(answer.status, { ...DATA_HEADERS, 'content-type': type })
  response.flushHeaders()
  for await (const chunk of answer.body) if (!response.write(chunk)) await once(response, 'drain', { signal })
  response.end()
}
