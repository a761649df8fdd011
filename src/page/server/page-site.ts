import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../base/async/clock.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { Transport } from '../../protocols/kube-api/transport/transport.ts'
import type { SessionView } from '../messages/page-message.ts'
import { findRequestFault } from './find-request-fault.ts'
import { LinkTokens } from './link-tokens.ts'
import type { PageIdentity } from './link-tokens.ts'
import { LiveFeed } from './live-feed.ts'
import { ReviewedAgent } from './page-agent.ts'
import type { NodeAgent } from './page-agent.ts'
import { loadPageAssets, sendAsset } from './page-assets.ts'
import type { PageAssets } from './page-assets.ts'
import { DATA_HEADERS } from './page-headers.ts'
import { passApiRequest } from './pass-api-request.ts'
import { sendJson, sendPlain } from './send-page.ts'
import { serveLive } from './serve-live.ts'
import { Sessions } from './sessions.ts'
import type { Session } from './sessions.ts'

export interface PageSiteDeps {
  /** With which the tokens of links are signed. */
  readonly key: string
  /** Where the built page is. */
  readonly assets: string
  readonly nodeName: string
  /** Of Deckhand. */
  readonly version: string
  readonly agent: NodeAgent
  /** Connections to the API with the rights of an identity; opened once each. */
  readonly connect: (identity: PageIdentity) => Promise<ApiConnection>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

interface ApiConnection {
  readonly client: KubeClient
  readonly transport: Transport
}

interface UserParts extends ApiConnection {
  readonly agent: ReviewedAgent
  readonly feed: LiveFeed
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly signal: AbortSignal
}

const KEY_HEADER = 'x-deckhand-key'
const NEW_LINK = 'Run "deckhand page" on the node for a new link.\n'

/** Answers the requests of browsers: the page, who is signed in, and what the API and the agent say to that user. */
export class PageSite {
  readonly #deps: PageSiteDeps
  readonly #stop: AbortSignal
  readonly #tokens: LinkTokens
  readonly #sessions: Sessions
  readonly #users = new Map<PageIdentity, Promise<UserParts>>()
  #assets: Promise<PageAssets> | undefined

  /** All of it ends when `stop` aborts. */
  constructor(deps: PageSiteDeps, stop: AbortSignal) {
    this.#deps = deps
    this.#stop = stop
    this.#tokens = new LinkTokens(deps.key)
    this.#sessions = new Sessions(deps.clock)
  }

  /** Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    // The server closes all connections when it ends.
    response.once('close', () => gone.abort(new Error('The reader has left, or the server ends')))
    response.on('error', () => {})
    request.resume()
    try {
      const url = new URL(request.url ?? '/', 'http://page.invalid')
      await this.#answer({ request, response, url, signal: gone.signal })
    } catch (error) {
      if (!gone.signal.aborted) this.#deps.log.warn('a request of the page failed', { error })
      if (response.headersSent) response.destroy()
      else sendPlain(response, 502, `${errorMessage(error)}\n`)
    }
  }

  async #answer(exchange: Exchange): Promise<void> {
    const { request, response, url } = exchange
    const { method = 'GET', headers } = request
    const path = url.pathname
    const fault = findRequestFault(method, path, headers)
    if (fault !== undefined) return sendPlain(response, 403, `${fault}\n`)
    if (path === '/session') return this.#answerSession(exchange)
    if (method !== 'GET' && method !== 'HEAD') return sendPlain(response, 405, 'the page only reads\n')
    if (path === '/sign-in') return this.#signIn(exchange)
    if (path === '/' || path.startsWith('/pods/') || path.startsWith('/assets/')) return await this.#sendFile(exchange)
    const session = this.#sessionOf(request)
    if (session === undefined) return sendPlain(response, 401, `You are not signed in. ${NEW_LINK}`)
    await this.#answerUser(exchange, session)
  }

  async #answerUser({ request, response, url, signal }: Exchange, session: Session): Promise<void> {
    const { transport, agent, feed } = await this.#partsOf(session.identity)
    if (url.pathname === '/live') {
      const isSignedIn = () => this.#sessionOf(request) !== undefined
      return serveLive(feed, { request, response }, { isSignedIn, ended: session.ended })
    }
    if (url.pathname === '/agent/why') {
      const answer = await agent.explainPod(url.searchParams.get('pod') ?? '', signal)
      return answer === undefined ? sendPlain(response, 403, `${agent.refusal}\n`) : sendJson(response, 200, answer)
    }
    if (/^\/apis?\//.test(url.pathname)) {
      const leave = () => response.destroy()
      session.ended.addEventListener('abort', leave, { once: true })
      response.once('close', () => session.ended.removeEventListener('abort', leave))
      return await passApiRequest(transport, url, response, signal)
    }
    sendPlain(response, 404, 'there is no such page\n')
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

  /** The token is worth a cookie once, and is in no address after that. */
  #signIn({ response, url }: Exchange): void {
    const identity = this.#tokens.redeem(url.searchParams.get('token') ?? '', this.#deps.clock.now())
    if (identity === undefined)
      return sendPlain(response, 403, `This link was used already, or is too old. ${NEW_LINK}`)
    const cookie = this.#sessions.begin(identity)
    response.writeHead(303, {
      ...DATA_HEADERS,
      location: '/',
      'set-cookie': `${this.#cookieName}=${cookie}; Path=/; HttpOnly; SameSite=Strict`,
    })
    response.end()
  }

  #answerSession({ request, response }: Exchange): void {
    const cookie = this.#cookieOf(request)
    if (request.method === 'POST') {
      const key = this.#sessions.takeKey(cookie)
      return key === undefined
        ? sendPlain(response, 401, `There is no new session here. ${NEW_LINK}`)
        : sendJson(response, 200, { key })
    }
    const session = this.#sessionOf(request)
    if (session === undefined) return sendPlain(response, 401, `You are not signed in. ${NEW_LINK}`)
    if (request.method === 'DELETE') {
      this.#sessions.end(cookie)
      return sendJson(response, 200, {})
    }
    if (request.method !== 'GET') return sendPlain(response, 405, 'expected GET, POST or DELETE\n')
    const { nodeName, version } = this.#deps
    const isReader = session.identity === 'reader'
    const view: SessionView = { user: isReader ? 'reader' : 'administrator', isReader, nodeName, version }
    sendJson(response, 200, view)
  }

  #sessionOf(request: IncomingMessage): Session | undefined {
    const { [KEY_HEADER]: key } = request.headers
    return this.#sessions.find(this.#cookieOf(request), typeof key === 'string' ? key : undefined)
  }

  // To browsers the ports of a host have the same cookies: each node of a machine has a name of its own.
  get #cookieName(): string {
    return `deckhand-${this.#deps.nodeName.replaceAll(/[^\w-]/g, '-')}`
  }

  #cookieOf({ headers: { cookie = '' } }: IncomingMessage): string | undefined {
    const prefix = `${this.#cookieName}=`
    const found = cookie.split(/;\s*/).find((each) => each.startsWith(prefix))
    return found?.slice(prefix.length)
  }

  #partsOf(identity: PageIdentity): Promise<UserParts> {
    const parts = this.#users.getOrInsertComputed(identity, async () => {
      const { nodeName, clock, random, log } = this.#deps
      const connection = await this.#deps.connect(identity)
      const agent = new ReviewedAgent({ client: connection.client, agent: this.#deps.agent, nodeName, clock })
      const feed = new LiveFeed({ client: connection.client, agent, nodeName, stop: this.#stop, clock, random, log })
      return { ...connection, agent, feed }
    })
    // What failed once is tried again.
    parts.catch(() => this.#users.delete(identity))
    return parts
  }
}
