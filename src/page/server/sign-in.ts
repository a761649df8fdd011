import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../base/async/clock.ts'
import type { SessionView } from '../messages/page-message.ts'
import { LinkTokens } from './link-tokens.ts'
import { DATA_HEADERS } from './page-headers.ts'
import { sendJson, sendPlain } from './send-page.ts'
import { findProtocolKey } from './serve-terminal.ts'
import { Sessions } from './sessions.ts'
import type { Session } from './sessions.ts'

export interface SignInDeps {
  /** Signs the tokens of links. */
  readonly key: string
  readonly clock: Clock
  /** What a page shows about its session, besides the user. */
  readonly view: Omit<SessionView, 'user' | 'isReader'>
  /** Of the user; undefined: that of the identity. */
  readonly userName: string | undefined
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
}

const KEY_HEADER = 'x-deckhand-key'
const NEW_LINK = 'Run "deckhand page" for a new link, on the node or with its kubeconfig file as before.\n'
export const NOT_SIGNED_IN = `You are not signed in. ${NEW_LINK}`

/** Who is signed in: links become sessions, which a browser shows by a cookie and a key. */
export class SignIn {
  readonly #deps: SignInDeps
  readonly #tokens: LinkTokens
  readonly #sessions: Sessions

  constructor(deps: SignInDeps) {
    this.#deps = deps
    this.#tokens = new LinkTokens(deps.key)
    this.#sessions = new Sessions(deps.clock)
  }

  /** The session of a request. */
  find(request: IncomingMessage): Session | undefined {
    const { [KEY_HEADER]: key } = request.headers
    return this.#sessions.find(cookieOf(request), typeof key === 'string' ? key : undefined)
  }

  /** The session of a terminal, for which browsers send no headers. */
  findOfTerminal(request: IncomingMessage): Session | undefined {
    return this.#sessions.find(cookieOf(request), findProtocolKey(request))
  }

  /** The token is worth a cookie once, and is in no address after that. */
  redeem({ request, response, url }: Exchange): void {
    const identity = this.#tokens.redeem(url.searchParams.get('token') ?? '', this.#deps.clock.now())
    if (identity === undefined)
      return sendPlain(response, 403, `This link was used already, or is too old. ${NEW_LINK}`)
    const cookie = this.#sessions.begin(identity)
    response.writeHead(303, {
      ...DATA_HEADERS,
      location: '/',
      'set-cookie': `${toCookieName(request.headers.host)}=${cookie}; Path=/; HttpOnly; SameSite=Strict`,
    })
    response.end()
  }

  /** What a page asks and says about its own session. */
  answer({ request, response }: Exchange): void {
    const cookie = cookieOf(request)
    if (request.method === 'POST') {
      const key = this.#sessions.takeKey(cookie)
      return key === undefined
        ? sendPlain(response, 401, `There is no new session here. ${NEW_LINK}`)
        : sendJson(response, 200, { key })
    }
    const session = this.find(request)
    if (session === undefined) return sendPlain(response, 401, NOT_SIGNED_IN)
    if (request.method === 'DELETE') {
      this.#sessions.end(cookie)
      return sendJson(response, 200, {})
    }
    if (request.method !== 'GET') return sendPlain(response, 405, 'expected GET, POST or DELETE\n')
    const isReader = session.identity === 'reader'
    const user = this.#deps.userName ?? (isReader ? 'reader' : 'administrator')
    const view: SessionView = { user, isReader, ...this.#deps.view }
    sendJson(response, 200, view)
  }
}

function cookieOf({ headers: { cookie = '', host } }: IncomingMessage): string | undefined {
  const prefix = `${toCookieName(host)}=`
  const found = cookie.split(/;\s*/).find((each) => each.startsWith(prefix))
  return found?.slice(prefix.length)
}

/** Browsers keep one set of cookies for all ports of a host: each page of a machine has a name of its own, also behind a tunnel. */
function toCookieName(host = ''): string {
  return `deckhand-${/:(\d+)$/.exec(host)?.[1] ?? '80'}`
}
