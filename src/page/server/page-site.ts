import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../base/async/clock.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { KubeUnreachableError } from '../../protocols/kube-api/kube-client.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { UpgradeTransport } from '../../protocols/kube-api/transport/transport.ts'
import { answerUpgrade } from '../../protocols/streams/upgrade/answer-upgrade.ts'
import { UpgradeError } from '../../protocols/streams/upgrade/pass-upgrade.ts'
import type { StorageView } from '../messages/compute-storage-view.ts'
import { SelfAccessReviews } from './self-access-reviews.ts'
import { findRequestFault } from './find-request-fault.ts'
import type { PortForwards } from './forwards/port-forwards.ts'
import type { PageIdentity } from './link-tokens.ts'
import { LiveFeed } from './live/live-feed.ts'
import { ReviewedAgent } from './page-agent.ts'
import type { NodeAgent } from './page-agent.ts'
import { loadPageAssets, sendAsset } from './page-assets.ts'
import type { PageAssets } from './page-assets.ts'
import { DATA_HEADERS } from './page-headers.ts'
import { parseAccessQuestions, parseForwardRequest, parsePullRequest } from './parse-page-request.ts'
import { passApiRequest } from './pass-api-request.ts'
import { readRequestBody } from './read-request-body.ts'
import { readStorage } from './read-storage.ts'
import { sendJson, sendPlain } from './send-page.ts'
import { serveLive } from './live/serve-live.ts'
import { serveTerminal } from './serve-terminal.ts'
import type { PageUpgrade } from './serve-terminal.ts'
import { NOT_SIGNED_IN, SignIn } from './sign-in.ts'
import type { Session } from './sessions.ts'

export interface PageSiteDeps {
  /** Signs the tokens of links. */
  readonly key: string
  /** Where the built page is. */
  readonly assets: string
  readonly nodeName: string
  /** Whether it is a node of a cluster: pods of others are left out. */
  readonly isOneOfMany: boolean
  /** Whether a kubelet answers for itself, without an API. */
  readonly isKubelet?: boolean
  /** Of the user; undefined: that of the identity. */
  readonly userName?: string
  /** Of Deckhand. */
  readonly version: string
  readonly agent: NodeAgent
  /** Connections to the API with the rights of an identity; opened once each. */
  readonly connect: (identity: PageIdentity) => Promise<ApiConnection>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

export interface ApiConnection {
  readonly client: KubeClient
  readonly transport: UpgradeTransport
  /** Where the other side has what the API has at a target about streams of a pod; undefined: in the same place. */
  readonly toTarget?: (target: string) => string
}

interface UserParts extends ApiConnection {
  readonly agent: ReviewedAgent
  readonly access: SelfAccessReviews
  readonly feed: LiveFeed
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly signal: AbortSignal
}

/** Answers the requests of browsers: the page, who is signed in, and what the API and the agent say to that user. */
export class PageSite {
  readonly #deps: PageSiteDeps
  readonly #stop: AbortSignal
  readonly #signIn: SignIn
  readonly #users = new Map<PageIdentity, Promise<UserParts>>()
  #assets: Promise<PageAssets> | undefined
  #forwards: Promise<PortForwards> | undefined

  /** All of it ends when `stop` aborts. */
  constructor(deps: PageSiteDeps, stop: AbortSignal) {
    this.#deps = deps
    this.#stop = stop
    const { key, clock, userName, nodeName, version, agent, isKubelet = false } = deps
    const view = { nodeName, version, canPull: agent.pullImage !== undefined, isKubelet }
    this.#signIn = new SignIn({ key, clock, userName, view })
  }

  /** Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    // The server closes all connections when it ends.
    response.once('close', () => gone.abort(new Error('The reader has left, or the server ends')))
    response.on('error', () => {})
    try {
      const url = new URL(request.url ?? '/', 'http://page.invalid')
      await this.#answer({ request, response, url, signal: gone.signal })
    } catch (error) {
      if (!gone.signal.aborted) this.#deps.log.warn('a request of the page failed', { error })
      if (response.headersSent) response.destroy()
      else sendPlain(response, 502, `${errorMessage(error)}\n`)
    } finally {
      // What was not read is of no interest.
      request.resume()
    }
  }

  /** Opens a terminal. Never rejects. */
  async upgrade({ request, socket, head }: PageUpgrade): Promise<void> {
    const refuse = (status: number, body: string) => answerUpgrade(socket, { status, headers: DATA_HEADERS, body })
    const { method = 'GET', url = '/', headers } = request
    try {
      const fault =
        headers.origin === undefined ? 'A terminal needs an origin.' : findRequestFault(method, url, headers)
      if (fault !== undefined) return refuse(403, `${fault}\n`)
      const session = this.#signIn.findOfTerminal(request)
      if (session === undefined) return refuse(401, NOT_SIGNED_IN)
      const { transport, toTarget = toSameTarget } = await this.#partsOf(session.identity)
      const until = AbortSignal.any([this.#stop, session.ended])
      const terminal = { request, socket, head, target: toTarget(url) }
      await serveTerminal(transport, terminal, this.#deps.clock, until)
    } catch (error) {
      if (!this.#stop.aborted) this.#deps.log.warn('a terminal of the page failed', { error })
      // After the first byte of the other protocol there is no way to say it.
      if (error instanceof UpgradeError || error instanceof KubeUnreachableError) refuse(502, `${error.message}\n`)
      else socket.destroy()
    }
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { request, response, url } = exchange
    const { method = 'GET', headers } = request
    const path = url.pathname
    const fault = findRequestFault(method, path, headers)
    if (fault !== undefined) return sendPlain(response, 403, `${fault}\n`)
    if (path === '/session') return this.#signIn.answer(exchange)
    const isRead = method === 'GET' || method === 'HEAD'
    // A link works once: one who only looks where it leads must not use it up.
    if (method === 'GET' && path === '/sign-in') return this.#signIn.redeem(exchange)
    const isScreen = path === '/' || path === '/storage' || path.startsWith('/pods/')
    if (isRead && (isScreen || path.startsWith('/assets/'))) return await this.#sendFile(exchange)
    const session = this.#signIn.find(request)
    if (session === undefined) return sendPlain(response, 401, NOT_SIGNED_IN)
    if (/^\/apis?\//.test(path)) return await this.#passToApi(exchange, session)
    if (path === '/forwards') return await this.#answerForwards(exchange, session)
    if (method === 'POST') return await this.#answerPost(exchange, session)
    if (!isRead) return sendPlain(response, 405, 'expected GET\n')
    await this.#answerUser(exchange, session)
  }

  async #passToApi(exchange: Exchange, session: Session): Promise<void> {
    const { response, signal } = exchange
    const { transport } = await this.#partsOf(session.identity)
    const leave = () => response.destroy()
    session.ended.addEventListener('abort', leave, { once: true })
    response.once('close', () => session.ended.removeEventListener('abort', leave))
    await passApiRequest(transport, exchange, signal)
  }

  async #answerPost({ request, response, url, signal }: Exchange, session: Session): Promise<void> {
    const { access } = await this.#partsOf(session.identity)
    const text = (await readRequestBody(request))?.toString('utf8') ?? ''
    if (url.pathname === '/access') {
      const questions = parseAccessQuestions(text)
      if (questions === undefined) return sendPlain(response, 400, 'expected a list of questions\n')
      return sendJson(response, 200, await access.may(questions, signal))
    }
    if (url.pathname !== '/agent/pull') return sendPlain(response, 404, 'there is no such page\n')
    const { agent, nodeName: name } = this.#deps
    const image = parsePullRequest(text)
    if (agent.pullImage === undefined) return sendPlain(response, 501, 'images cannot be pulled from here\n')
    if (image === undefined) return sendPlain(response, 400, 'expected the name of an image\n')
    // The right that the agent's own port asks for before it does something.
    const right = { verb: 'create', group: '', resource: 'nodes', subresource: 'proxy', namespace: '', name }
    const [isAllowed] = await access.may([right], signal)
    if (isAllowed !== true) return sendPlain(response, 403, 'This user may not create nodes/proxy\n')
    await pullImage(agent.pullImage(image, signal), response)
  }

  /** Those of this session alone. */
  async #answerForwards({ request, response, signal }: Exchange, session: Session): Promise<void> {
    const forwards = await this.#loadForwards()
    if (request.method === 'GET') return sendJson(response, 200, forwards.list(session.ended))
    const wanted = parseForwardRequest((await readRequestBody(request))?.toString('utf8') ?? '')
    if (wanted === undefined) return sendPlain(response, 400, 'expected a port of a pod\n')
    if (request.method === 'DELETE') {
      forwards.close(wanted, session.ended)
      return sendJson(response, 200, {})
    }
    if (request.method !== 'POST') return sendPlain(response, 405, 'expected GET, POST or DELETE\n')
    const { access, transport, toTarget = toSameTarget } = await this.#partsOf(session.identity)
    const { namespace, pod: name } = wanted
    const right = { verb: 'create', group: '', resource: 'pods', subresource: 'portforward', namespace, name }
    // The API refuses each connection by itself; so nothing listens in vain.
    const [isAllowed] = await access.may([right], signal)
    if (isAllowed !== true) return sendPlain(response, 403, 'This user may not create pods/portforward\n')
    const view = await forwards.open(wanted, { transport, toTarget, ended: session.ended })
    if (view === undefined) return sendPlain(response, 429, 'too many ports are forwarded: stop one of them\n')
    sendJson(response, 200, view)
  }

  /** With the first question about it: most pages forward nothing. */
  #loadForwards(): Promise<PortForwards> {
    const load = async () => {
      const { PortForwards: Loaded } = await import('./forwards/port-forwards.ts')
      return new Loaded(this.#deps, this.#stop)
    }
    return (this.#forwards ??= load())
  }

  async #answerUser({ request, response, url, signal }: Exchange, session: Session): Promise<void> {
    const parts = await this.#partsOf(session.identity)
    const { agent, feed } = parts
    if (url.pathname === '/live') {
      const isSignedIn = () => this.#signIn.find(request) !== undefined
      return serveLive(feed, { request, response }, { isSignedIn, ended: session.ended })
    }
    if (url.pathname === '/agent/why') {
      const answer = await agent.explainPod(url.searchParams.get('pod') ?? '', signal)
      if (answer !== undefined) return sendJson(response, 200, answer)
      return agent.refusal === undefined
        ? sendPlain(response, 404, 'the agent knows nothing of this pod\n')
        : sendPlain(response, 403, `${agent.refusal}\n`)
    }
    if (url.pathname === '/agent/usage')
      return sendJson(response, 200, await feed.usageOf(url.searchParams.get('uid') ?? '', signal))
    if (url.pathname === '/agent/storage') return sendJson(response, 200, await this.#readStorage(parts, signal))
    sendPlain(response, 404, 'there is no such page\n')
  }

  async #readStorage({ client, agent, feed }: UserParts, signal: AbortSignal): Promise<StorageView> {
    const { nodeName, isOneOfMany } = this.#deps
    return await readStorage({ client, agent, feed, nodeName, isOneOfMany }, signal)
  }

  async #sendFile({ request, response, url }: Exchange): Promise<void> {
    this.#assets ??= loadPageAssets(this.#deps.assets)
    const assets = await this.#assets
    const accepts = request.headers['accept-encoding'] ?? ''
    const name = url.pathname.startsWith('/assets/') ? url.pathname.slice('/assets/'.length) : undefined
    if (sendAsset(assets, { accepts, ...(name !== undefined && { name }) }, response)) return
    if (assets.size === 0) {
      this.#assets = undefined
      return sendPlain(response, 503, 'The page is not built: run "npm run build" in the checkout.\n')
    }
    sendPlain(response, 404, 'there is no such file\n')
  }

  #partsOf(identity: PageIdentity): Promise<UserParts> {
    const parts = this.#users.getOrInsertComputed(identity, async () => {
      const { nodeName, isOneOfMany, clock, random, log } = this.#deps
      const connection = await this.#deps.connect(identity)
      const agent = new ReviewedAgent({ client: connection.client, agent: this.#deps.agent, nodeName, clock })
      const own = { nodeName, isOneOfMany, clock, random, log }
      const feed = new LiveFeed({ client: connection.client, agent, stop: this.#stop, ...own })
      const access = new SelfAccessReviews({ client: connection.client, clock })
      return { ...connection, agent, access, feed }
    })
    // What failed once is tried again.
    parts.catch(() => this.#users.delete(identity))
    return parts
  }
}

function toSameTarget(target: string): string {
  return target
}

/** The status is sent at once, since the work may take minutes; the body says how it ended. */
async function pullImage(pulling: Promise<void>, response: ServerResponse): Promise<void> {
  response.writeHead(200, { ...DATA_HEADERS, 'content-type': 'application/json' })
  response.flushHeaders()
  const error = await pulling.then(
    () => undefined,
    (reason: unknown) => errorMessage(reason),
  )
  response.end(JSON.stringify(error === undefined ? {} : { error }))
}
